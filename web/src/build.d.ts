// Set when a script is built (vite.*.js): whether it draws pictures whose boxes are an estimate. Most SVGs are not of
// those, and their script is to be small.
declare const WITH_EXACT: boolean;
