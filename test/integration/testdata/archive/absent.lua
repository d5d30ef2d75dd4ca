archive { "/srv/kept.tar.gz", ensure = "absent" }
