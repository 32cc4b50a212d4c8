// Set when a script is built (vite.*.js): whether it draws pictures whose boxes are an estimate, and comparisons. Most SVGs
// are neither, and their script is to be small.
declare const WITH_EXACT: boolean;
declare const WITH_CHANGES: boolean;

// Whether this is the page in a file (src/file), whose answers come from the data beside it and not from a server.
declare const IN_FILE: boolean;

// Whether this is the page of a daemon, which is sent the boxes that can be seen.
declare const IN_PAGE: boolean;
