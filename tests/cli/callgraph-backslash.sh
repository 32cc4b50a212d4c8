# names with a backslash before E, G, H, L, N or T, which Graphviz would expand, are whole in tooltips
printf 'main;App\\Log\\Title::get;App\\Tax\\Node::of;App\\Http\\Engine::go 50\nmain;App\\Graph\\Edge::z\\ 30\n' >names
strobe callgraph names -q -o names.svg
grep -o 'xlink:title="[^"]*"' names.svg
strobe callgraph names -q -o names.dot
grep -o 'tooltip="App[^"]*"' names.dot
