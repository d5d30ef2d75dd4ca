// The text editor: CodeMirror 6, with the modes that colour what sites are made of.
export { EditorState, ChangeSet, Compartment, StateEffect, StateField, Annotation, Transaction, Prec } from "@codemirror/state";
export { EditorView, keymap, lineNumbers, highlightActiveLine, highlightActiveLineGutter, drawSelection, Decoration, hoverTooltip, placeholder } from "@codemirror/view";
export { defaultKeymap } from "@codemirror/commands";
export { StreamLanguage, syntaxHighlighting, HighlightStyle, indentUnit, bracketMatching } from "@codemirror/language";
export { lintGutter, setDiagnostics, lintKeymap } from "@codemirror/lint";
export { autocompletion, completionKeymap, startCompletion, completionStatus } from "@codemirror/autocomplete";
export { search, searchKeymap, highlightSelectionMatches, openSearchPanel } from "@codemirror/search";
export { lua } from "@codemirror/legacy-modes/mode/lua";
export { yaml } from "@codemirror/legacy-modes/mode/yaml";
export { toml } from "@codemirror/legacy-modes/mode/toml";
export { shell } from "@codemirror/legacy-modes/mode/shell";
export { nginx } from "@codemirror/legacy-modes/mode/nginx";
export { properties } from "@codemirror/legacy-modes/mode/properties";
export { tags } from "@lezer/highlight";
