// Fails the build if what the first screen loads exceeds its budget, compressed. Prints the size of the other files.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const BUDGET = 120 * 1024;
const DIST = "dist";

const page = readFileSync(join(DIST, "index.html"), "utf8");
const files = readdirSync(DIST, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => join(parentPath, name));
/** index.html, and the scripts and style sheets that it names. */
const first = files.filter((file) => file === join(DIST, "index.html") || loads(page, file));

const total = print("first screen", first);
print(
  "later",
  files.filter((file) => !first.includes(file)),
);
if (total > BUDGET) {
  console.error(`The first screen is too large: at most ${BUDGET / 1024} KB.`);
  process.exit(1);
}

function loads(page, file) {
  return /\.(js|css)$/.test(file) && page.includes(`"/${file.slice(DIST.length + 1)}"`);
}

function print(title, files) {
  const sizes = files.map((file) => [gzipSync(readFileSync(file)).length, file]);
  const total = sizes.reduce((sum, [size]) => sum + size, 0);
  for (const [size, file] of [...sizes, [total, `${title}, compressed`]])
    console.log(`${(size / 1024).toFixed(1).padStart(7)} KB  ${file}`);
  return total;
}
