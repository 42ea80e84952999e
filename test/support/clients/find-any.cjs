// Prints where a TypeScript package says `any`, or declares something whose type is or has one:
// node find-any.cjs COMPILER FOLDER
const { relative } = require('node:path')

const [, , compiler, folder] = process.argv
const ts = require(compiler)

const { config } = ts.readConfigFile(`${folder}/tsconfig.json`, ts.sys.readFile)
const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, folder)
const program = ts.createProgram(fileNames, { ...options, noEmit: true })
const checker = program.getTypeChecker()
const ours = new Set(fileNames)

const isAny = (type) => (type.flags & ts.TypeFlags.Any) !== 0

/** The language's own say `any` of what nothing reads: what an iteration returns, and what it is given. */
const iterates = /^(Async)?(Iterable|Iterator|IterableIterator|Generator)(Object)?$/

function argumentsOf(type) {
  if (!(type.objectFlags & ts.ObjectFlags.Reference)) return []
  const given = checker.getTypeArguments(type)
  return iterates.test(type.symbol?.name ?? '') ? given.slice(0, 1) : given
}

/** Itself, in what it is made of, or what a call gives. Only types of ours are looked into by their fields: those declare themselves. */
function hasAny(type, deep = 3) {
  if (isAny(type)) return true
  if (deep === 0) return false
  const inner = [
    ...(type.isUnionOrIntersection() ? type.types : []),
    ...(type.aliasTypeArguments ?? []),
    ...argumentsOf(type),
  ]
  return (
    inner.some((one) => one !== type && hasAny(one, deep - 1)) ||
    type.getCallSignatures().some((call) => hasAny(call.getReturnType(), deep - 1))
  )
}

const found = new Set()
const report = (node, name) => {
  const file = node.getSourceFile()
  const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1
  found.add(`${relative(folder, file.fileName)}:${line} ${name}`)
}
const visit = (node) => {
  if (node.kind === ts.SyntaxKind.AnyKeyword) report(node, 'any')
  const isDeclared =
    ts.isVariableDeclaration(node) ||
    ts.isParameter(node) ||
    ts.isPropertySignature(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isTypeAliasDeclaration(node)
  if (isDeclared && node.name !== undefined && ts.isIdentifier(node.name)) {
    const type = checker.getTypeAtLocation(node)
    if (hasAny(type)) report(node, node.name.text)
  }
  ts.forEachChild(node, visit)
}
for (const file of program.getSourceFiles()) if (ours.has(file.fileName)) visit(file)
const faults = program
  .getSemanticDiagnostics()
  .filter(({ file }) => file && ours.has(file.fileName))
if (faults.length > 0) throw new Error(ts.flattenDiagnosticMessageText(faults[0].messageText, '\n'))
console.log(JSON.stringify([...found].sort((a, b) => (a < b ? -1 : 1))))
