import { runMoveCli } from '@influencer-stats/runtime/move-cli'
import { findStoppedFolder, SILENT_LOG } from '@influencer-stats/runtime/stopped-folder'
import { EXPORT_HEAD, toExportLines } from './core/moved-event.ts'
import { createLevelHistory } from './history/level-history.ts'

// `pnpm sse export FILE` and `import FILE`: move the history of a service.

const HELP = `pnpm sse export FILE [--url URL | --from DIR]   exports the stored values of all topics to a file
pnpm sse import FILE [--url URL]               imports such a file into a service, or into one node of a cluster

--url is http://127.0.0.1:8083 by default. --from reads the data folder of a stopped service with --history level.
Imported values get new event ids: a client that resumes with an old one gets the event gap. A value is not imported if
its topic has a newer one, so an import can be repeated. A damaged file changes nothing.
API_TOKEN is sent if it is set. Exit status: 0 success, 1 failure, 2 wrong usage.
`
const NO_LIMITS = { count: Infinity, bytes: Infinity, age: Infinity, topics: Infinity, total: Infinity }

/** Returns the time in a line of an export. */
const getTime = (line: string) => /^\{"at":(\d+),/.exec(line)?.[1]

async function* readFolder(from: string) {
  const { folder } = findStoppedFolder('sse', from)
  const history = await createLevelHistory({ ...NO_LIMITS, folder, log: SILENT_LOG })
  try {
    yield* toExportLines(history.getState())
  } finally {
    await history.close()
  }
}

process.exitCode = await runMoveCli({
  head: EXPORT_HEAD,
  port: 8083,
  help: HELP,
  readFolder,
  // Events of one time are new or known together.
  canSplit: (before, line) => getTime(before) !== getTime(line),
  describe: (replies) => `imported ${replies.reduce((all, { imported }) => all + imported!, 0)} values`,
})
