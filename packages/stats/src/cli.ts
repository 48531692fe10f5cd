import { runMoveCli } from '@influencer-stats/runtime/move-cli'
import { findStoppedFolder, SILENT_LOG } from '@influencer-stats/runtime/stopped-folder'
import { EXPORT_HEAD, MAX_IMPORT_BYTES } from './core/export-line.ts'
import { exportDatabase } from './state/export-database.ts'
import { openStatsLevel } from './state/level-database.ts'

// `pnpm stats export FILE` and `import FILE`: move the collections and histories of a service.

const HELP = `pnpm stats export FILE [--url URL | --from DIR]   exports all collections, histories and details to a file
pnpm stats import FILE [--url URL]               imports such a file into a service, or into one node of a cluster

--url is http://127.0.0.1:8080 by default. --from reads the data folder of a stopped service or node.
An import replaces no collection that has a later version, and can be repeated. A damaged file changes nothing.
API_TOKEN is sent if it is set, READ_TOKEN otherwise.
Exit status: 0 success, 1 failure, 2 wrong usage.
`

async function* readFolder(from: string) {
  const { folder, isReplica } = findStoppedFolder('stats', from)
  const level = await openStatsLevel({ folder, isReplica, log: SILENT_LOG })
  try {
    yield* exportDatabase(level.db)
  } finally {
    await level.close()
  }
}

process.exitCode = await runMoveCli({
  head: EXPORT_HEAD,
  port: 8080,
  help: HELP,
  maxLineBytes: MAX_IMPORT_BYTES,
  readFolder,
  describe(replies) {
    const sum = (name: string) => replies.reduce((all, reply) => all + reply[name]!, 0)
    const newer = sum('newer')
    const kept = newer > 0 ? `; ${newer} collections have a later version and were not replaced` : ''
    return `imported ${sum('lines')} lines${kept}`
  },
})
