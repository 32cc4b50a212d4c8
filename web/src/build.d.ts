// Set when a script is built (vite.*.js): whether it draws pictures whose boxes are an estimate, and comparisons. Most SVGs
// are neither, and their script is to be small.
declare const WITH_EXACT: boolean;
declare const WITH_CHANGES: boolean;

// Whether this is the page in a file (src/file), whose answers come from data in the file instead of a server.
declare const IN_FILE: boolean;

// Whether this is a daemon's page, which receives only visible boxes.
declare const IN_PAGE: boolean;
