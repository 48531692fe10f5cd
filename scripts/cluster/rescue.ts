import { openBackupFile } from '@influencer-stats/log/rescue/backup-source-file'
import { rescueLog } from '@influencer-stats/log/rescue/rescue-log'
import type { RescueSource } from '@influencer-stats/log/rescue/rescue-source'
import { openRunningNode } from '@influencer-stats/log/rescue/running-node'
import { waitForNodes } from '@influencer-stats/log/rescue/wait-for-nodes'
import { StartError } from '@influencer-stats/runtime/errors'
import { statSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { parseRescueArguments, type RescueArguments } from './rescue-arguments.ts'

const USAGE = `pnpm cluster rescue SERVICE (--url URL[,URL...] | --from DIR | --from FILE.backup)... --cluster nats://HOST:4222
    [--yes] [--wait-timeout MS] [--setting value...]

Continues the log of a cluster whose stream is lost: deleted, restored from older disks, or on new NATS servers. It takes
the state of the most advanced node, creates a stream that continues after it, and stores the state as a snapshot. Nodes
with this state continue in place; the others restart and load the snapshot. SERVICE is kv, stats, prices or sse.

  --url URL[,URL...]     running nodes. Name all that are running
  --from DIR             data folder of a stopped node
  --from FILE.backup     backup of a node (pnpm backup): restores it into a new cluster
  --yes                  delete an existing stream without a question
  --wait-timeout MS      maximum time until the nodes of --url take writes (ms, by default 120000)
The settings are those of the nodes: --cluster, --cluster-name, --nats-stream, --nats-replicas, --nats-credentials and
others. API_TOKEN or API_TOKEN_FILE is the token of changes. TMPDIR is the folder for a copy of the state.
The command can be repeated after a failure at any point.
Exit status: 0 the log continues, and the nodes of --url take writes; 1 failure; 2 wrong usage; 3 the log continues, but
a node of --url takes no writes.
`

/** Source that the command closes at its end. */
type OpenSource = RescueSource & { close?(): Promise<void> }

/** Functions that open the state of a stopped node. sse has no state on the disk. */
const stoppedNodes: Readonly<Record<string, (from: string) => Promise<OpenSource>>> = {
  kv: async (from) => (await import('@influencer-stats/kv/stopped-node')).openStopped(from),
  stats: async (from) => (await import('@influencer-stats/stats/stopped-node')).openStopped(from),
  prices: async (from) => (await import('@influencer-stats/prices/stopped-node')).openStopped(from),
}

const print = (text: string) => void process.stdout.write(`${text}\n`)

/** Runs `pnpm cluster rescue`. Resolves with the exit status. */
export async function runRescue(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  let args: RescueArguments | undefined
  try {
    args = await parseRescueArguments(argv, env)
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    process.stderr.write(`${error.message}\nUsage: pnpm cluster rescue --help\n`)
    return 2
  }
  if (!args) {
    process.stdout.write(USAGE)
    return argv.length > 0 ? 0 : 2
  }
  try {
    return await rescue(args)
  } catch (error) {
    const { code, message } = error as StartError
    process.stderr.write(`${args.service}: ${code ? `${code}: ` : ''}${message}\n`)
    return 1
  }
}

async function rescue(args: RescueArguments): Promise<number> {
  const { service, urls, waitTimeout } = args
  const report = (text: string) => print(`${service}: ${text}`)
  const sources: OpenSource[] = []
  try {
    for (const path of args.paths) sources.push(await openPath(service, path))
    for (const source of await Promise.all(urls.map((url) => openRunningNode({ service, url, token: args.token }))))
      if (source) sources.push(source)
    await rescueLog({ ...args, sources, confirm: (question) => confirm(question, args), onStep: report })
  } finally {
    for (const source of sources) await source.close?.()
  }
  const unready = await waitForNodes(urls, waitTimeout, (url) => report(`${url} takes writes`))
  for (const { url, writes } of unready) {
    const reason = writes ? `${writes.code}: ${writes.detail}` : 'it does not respond'
    process.stderr.write(`${service}: NODE_NOT_READY: ${url} takes no writes (${reason})\n`)
  }
  return unready.length > 0 ? 3 : 0
}

/** Opens a backup file or the folder of a stopped node. @throws StartError */
async function openPath(service: string, path: string): Promise<OpenSource> {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) throw new StartError('NO_DATA', `${path} does not exist`)
  if (found.isFile()) return openBackupFile(service, path)
  const open = stoppedNodes[service]
  if (!open)
    throw new StartError(
      'NO_DATA',
      `a node of ${service} has its state in memory: name a running node or a backup file`,
    )
  return open(path)
}

/** @throws StartError `LOG_EXISTS` without a terminal */
async function confirm(question: string, { isConfirmed }: RescueArguments): Promise<boolean> {
  if (isConfirmed) return true
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new StartError('LOG_EXISTS', `nothing was changed: ${question} --yes confirms it`)
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return (await terminal.question(`${question} Type yes: `)).trim() === 'yes'
  } finally {
    terminal.close()
  }
}
