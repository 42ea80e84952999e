import { readArchiveStatus, retentionLines } from '../../operate/archive-status.ts'
import type { Check } from './check.ts'
import { broken, type Finding, ok, orOk, warning } from './finding.ts'

export const archiveCheck: Check = {
  name: 'archive',
  needs: 'streams',
  run: async ({ nats }): Promise<readonly Finding[]> => {
    const archive = await readArchiveStatus(await nats())
    if (archive === null) return [ok('no process has archived yet')]
    const { trouble, trouble_since, worker, folder, retention, complete_until } = archive
    return orOk(
      [
        ...retentionLines(archive).map((line) => ok(`retention: ${line}`)),
        ...(retention?.trouble
          ? [
              broken(
                `retention does not go on: ${retention.trouble}`,
                'docs/operations.md has the way out',
              ),
            ]
          : []),
        ...(trouble === null
          ? []
          : [
              broken(
                `it has not gone on since ${trouble_since}, in ${folder}: ${trouble}`,
                'docs/archive.md has the way out',
              ),
            ]),
        ...(worker === null
          ? [
              warning(
                'no process archives now',
                'start `airproof archive`, which `airproof up` does',
              ),
            ]
          : []),
      ],
      complete_until === null ? `in ${folder}` : `in ${folder}, complete up to ${complete_until}`,
    )
  },
}
