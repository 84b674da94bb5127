// SPDX-License-Identifier: BSD-3-Clause
// properties.mjs SOURCES... - prints the names of the page's own properties, joined by "|": the bundler may shorten them.
// A name is left out where any use of it is of something declared elsewhere (the browser), or is made of a text.

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const ts = createRequire(pathToFileURL(`${process.cwd()}/`))('typescript');
const sources = process.argv.slice(2);
const program = ts.createProgram(sources, {
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  types: [],
  strict: true,
  noEmit: true,
});
const checker = program.getTypeChecker();
const own = new Set();
const foreign = new Set(['constructor', 'toString', 'valueOf', 'toJSON', 'then']);

const isOurs = (symbol) =>
  symbol?.declarations?.length > 0 && symbol.declarations.every((d) => !d.getSourceFile().isDeclarationFile);
const judge = (name, symbol) => (isOurs(symbol) ? own : foreign).add(name);
const hasTextIndex = (type) => partsOf(type).some((part) => part.getStringIndexType());
const partsOf = (type) => (type.isUnionOrIntersection() ? type.types.flatMap(partsOf) : [type]);

/** Texts that are used as keys. */
function keyed(type) {
  for (const part of partsOf(type)) if (part.isStringLiteral()) foreign.add(part.value);
}

/** All properties of a value whose keys are listed. */
function listed(type) {
  for (const part of partsOf(type)) for (const property of part.getProperties()) foreign.add(property.name);
}

function literal(object) {
  const expected = checker.getContextualType(object);
  const parts = expected ? partsOf(expected) : [];
  for (const { name } of object.properties) {
    if (!name) continue; // a spread
    if (ts.isComputedPropertyName(name)) keyed(checker.getTypeAtLocation(name.expression));
    else if (!ts.isIdentifier(name)) {
      if (!expected || !hasTextIndex(expected)) foreign.add(name.text);
    } else {
      own.add(name.text);
      for (const part of parts) {
        const known = part.getProperty(name.text);
        if (known ? !isOurs(known) : part.getStringIndexType()) foreign.add(name.text);
      }
    }
  }
}

function visit(node) {
  if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.name)) {
    // of a union: what each of its parts has
    for (const part of partsOf(checker.getApparentType(checker.getTypeAtLocation(node.expression))))
      judge(node.name.text, part.getProperty(node.name.text) ?? checker.getSymbolAtLocation(node.name));
    if (/^Object\.(entries|keys|values|assign|fromEntries)$/.test(node.getText()) && ts.isCallExpression(node.parent))
      for (const argument of node.parent.arguments) listed(checker.getTypeAtLocation(argument));
  } else if (ts.isBindingElement(node) && ts.isObjectBindingPattern(node.parent) && !node.dotDotDotToken) {
    const name = node.propertyName ?? node.name;
    if (ts.isIdentifier(name)) judge(name.text, checker.getTypeAtLocation(node.parent).getProperty(name.text));
  } else if (ts.isElementAccessExpression(node)) {
    // a text in brackets stays as it is, and needs no care where no property has its name
    if (!ts.isStringLiteral(node.argumentExpression) || !hasTextIndex(checker.getTypeAtLocation(node.expression)))
      keyed(checker.getTypeAtLocation(node.argumentExpression));
  }
  else if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.InKeyword) keyed(checker.getTypeAtLocation(node.left));
  else if (ts.isObjectLiteralExpression(node)) literal(node);
  else if (ts.isEnumMember(node)) foreign.add(node.name.text); // the bundler makes a number of it
  ts.forEachChild(node, visit);
}

for (const file of program.getSourceFiles()) if (!file.isDeclarationFile) visit(file);
console.log([...own].filter((name) => name.length > 2 && !foreign.has(name)).sort().join('|'));
