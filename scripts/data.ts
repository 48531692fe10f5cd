import { checkData, repairData } from '@influencer-stats/runtime/data-cli'
import type { OwnRows } from '@influencer-stats/runtime/own-row'

// `pnpm data check DIR [service...]` and `pnpm data repair DIR [service...]`: data folders of services that do not run.

const USAGE = `pnpm data check DIR [service...]   lists all damage of data folders, one per line; changes nothing
pnpm data repair DIR [service...]  copies damaged data folders, and salvages the readable entries
DIR is the data folder of all services or of one. Stop these services first.
Exit status: 0 no damage, 1 damage, 2 wrong usage.
`

const ownRows: OwnRows = {
  stats: async () => (await import('@influencer-stats/stats/sources-row')).sourcesRow,
  kv: async () => (await import('@influencer-stats/kv/revision-row')).revisionRow,
  sse: async () => (await import('@influencer-stats/sse/own-row')).ownRow,
  prices: async () => (await import('@influencer-stats/prices/own-row')).ownRow,
}

const [command, folder, ...services] = process.argv.slice(2)
const work = { check: checkData, repair: repairData }[command ?? '']
if (work && folder)
  process.exitCode = await work(folder, services, (line) => process.stdout.write(`${line}\n`), ownRows)
else {
  process.stderr.write(USAGE)
  process.exitCode = command === '--help' ? 0 : 2
}
