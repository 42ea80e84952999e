/** `node store-migrator.ts FILE LINE`: brings a file up to this version, and is killed at that line. */
import { openSqliteFile } from '../../store/sqlite/file.ts'

const [file = '', line = ''] = process.argv.slice(2)
let lines = 0
openSqliteFile(file, false, () => {
  if (++lines === Number(line)) process.kill(process.pid, 'SIGKILL')
})
