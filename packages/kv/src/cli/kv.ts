import { parseArgs } from 'node:util'
import { createKvClient } from '../client.ts'
import { exportTo } from './export.ts'
import { importFrom } from './import.ts'
import { createEntryProgress } from './progress.ts'

// `pnpm kv export FILE` and `pnpm kv import FILE`: every entry of a running service to a file of NDJSON, and back.

const USAGE = `pnpm kv export FILE | import FILE [--url http://127.0.0.1:8082]
API_TOKEN is sent where it is set; an export needs READ_TOKEN's value there if the service guards reads.
`

async function main(argv: readonly string[]): Promise<number> {
  const options = { url: { type: 'string', default: 'http://127.0.0.1:8082' }, help: { type: 'boolean' } } as const
  const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true })
  const [command, file] = positionals
  const work = { export: exportTo, import: importFrom }[command ?? '']
  if (values.help || !work || !file || positionals.length > 2) {
    process.stderr.write(USAGE)
    return values.help ? 0 : 2
  }
  const client = createKvClient(values.url, { token: process.env.API_TOKEN })
  const progress = createEntryProgress(command === 'export' ? 'exported' : 'imported', process.stderr)
  try {
    await work(client, file, progress)
    return 0
  } finally {
    progress.end()
    await client.close()
  }
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  const { message, cause } = error as Error & { cause?: Error }
  process.stderr.write(`kv: ${message || (cause?.message ?? error)}\n`)
  process.exitCode = 1
}
