-- Go templates with delimiters of their own and the functions of Sprig.
scaffold {
  "/etc/app",
  source = "go",
  engine = "go",
  left_delimiter = "<<", right_delimiter = ">>",
}
