import type { Mutant } from '../mutant.ts'

/** Each check of an export of both versions, taken out. */
const checks: readonly Omit<Mutant, 'tests'>[] = [
  {
    name: 'a row of version 2 may be in any place',
    file: 'cli/export/check-manifest.ts',
    text: 'if (version === 2 && !areRanks(proof.places, leaves, header))',
    becomes: 'if (version === 2 && !areRanks(proof.places, leaves, header) && index < 0)',
  },
  {
    name: 'a row may have no place',
    file: 'cli/export/check-manifest.ts',
    text: 'return ranks.next().done === true',
    becomes: 'return true',
  },
  {
    name: 'a leaf may be of another version than its batch',
    file: 'cli/export/check-manifest.ts',
    text: 'leafVersion !== version)',
    becomes: 'leafVersion !== version && index < 0)',
  },
  {
    name: 'an export of version 1 may have leaves of version 2',
    file: 'cli/export/group-rows.ts',
    text: 'if (is2 && version !== 2)',
    becomes: 'if (is2 && version !== 2 && count < 0)',
  },
  {
    name: 'what a row says of its signature is not checked',
    file: 'cli/export/group-rows.ts',
    text: 'if (fault !== undefined)',
    becomes: 'if (fault !== undefined && count < 0)',
  },
  {
    name: 'a run goes on in the next contract',
    file: 'cli/export/make-manifest.ts',
    text: 'contractOf(last) === contractOf(index)',
    becomes: 'contractOf(last) !== undefined',
  },
  {
    name: 'a row of version 2 is found anywhere in its batch',
    file: 'cli/export/leaf-book.ts',
    text: 'if (batchVersionOf(header) === 2)',
    becomes: 'if (batchVersionOf(header) === 2 && leaves.length < 0)',
  },
  {
    name: 'a column that is not known is passed over',
    file: 'cli/export/parse-row.ts',
    text: 'if (unknown === undefined)',
    becomes: 'if (unknown === undefined || version === 2)',
  },
  {
    name: 'a row with leaf 1 may have an area',
    file: 'cli/export/parse-row.ts',
    text: 'if (unproven === undefined)',
    becomes: 'if (unproven === undefined || version === 1)',
  },
  {
    name: 'a row may be written in another way',
    file: 'cli/export/parse-row.ts',
    text: 'rowText(row, format, names) === line',
    becomes: 'rowText(row, format, names) !== undefined',
  },
  {
    name: 'the first header of a run may claim any numbers',
    file: 'operate/exports/check-run.ts',
    text: 'let end = endBefore(run, keccak)',
    becomes: 'let end = endBefore(run, keccak) && undefined',
  },
  {
    name: 'a row may be of another time than the export',
    file: 'cli/export/group-rows.ts',
    text: 'if (reading.timeMs < fromMs ||',
    becomes: 'if (count < 0 ||',
  },
  {
    name: 'a number may be there twice',
    file: 'cli/export/group-rows.ts',
    text: 'numbers.add(reading.seq)',
    becomes: 'numbers.delete(reading.seq)',
  },
  {
    name: 'a row may be of a sensor that the export does not have',
    file: 'cli/export/export-filter.ts',
    text: '!sensors.includes(reading.sensor)',
    becomes: 'sensors.length === 0',
  },
  {
    name: 'a row may be of an area that the export does not have',
    file: 'cli/export/export-filter.ts',
    text: '!areas.includes(reading.area)',
    becomes: 'areas.length === 0',
  },
  {
    name: 'a row may be worse than the export says',
    file: 'cli/export/export-filter.ts',
    text: 'quality !== undefined && (reading.flags',
    becomes: 'quality === undefined && (reading.flags',
  },
  {
    name: 'a corrected value may be any',
    file: 'cli/export/corrected-columns.ts',
    text: 'if (claimed === value ||',
    becomes: 'if (claimed !== null ||',
  },
  {
    name: 'a model may have the hash of another',
    file: 'cli/export/corrected-columns.ts',
    text: 'hash !== read[at]?.hash',
    becomes: 'hash === undefined',
  },
  {
    name: 'a column may be named twice',
    file: 'cli/export/parse-row.ts',
    text: 'if (twice !== undefined)',
    becomes: 'if (twice !== undefined && names.length < 0)',
  },
  {
    name: 'a line ends where Node says',
    file: 'cli/export/read-export.ts',
    text: ".split('\\n')",
    becomes: '.split(/\\r?\\n|\\u2028|\\u2029/)',
  },
  {
    name: 'a kept signature may have the other s',
    file: 'runtime/signed-reading.ts',
    text: 'if (!hasLowS(algorithm, bytes))',
    becomes: 'if (!hasLowS(algorithm, bytes) && bytes.length < 0)',
  },
  {
    name: 'a kept signature may be another than the one of the leaf',
    file: 'runtime/signed-reading.ts',
    text: 'if (reading.device !== deviceHash(signature, keccak))',
    becomes: 'if (reading.device !== deviceHash(signature, keccak) && text === undefined)',
  },
  {
    name: 'a value that was signed may be left out',
    file: 'core/air/device-text.ts',
    text: '|| (flags & (1 << droppedFlag)) === 0',
    becomes: '|| droppedFlag < 0',
  },
  {
    name: 'a value that was signed may be left out with a flag',
    file: 'core/air/device-text.ts',
    text: 'value !== undefined || !isOutside ||',
    becomes: 'value !== undefined ||',
  },
  {
    name: 'a signed text may have a value twice',
    file: 'core/air/device-text.ts',
    text: 'if (name <= before)',
    becomes: 'if (name < before)',
  },
]

export const exportMutants: readonly Mutant[] = checks.map((mutant) => ({
  ...mutant,
  tests: ['export-2', 'export-rows', 'export-runs'],
}))
