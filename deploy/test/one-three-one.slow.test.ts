import { startNatsServer } from '@influencer-stats/log/nats-server'
import { parseArguments } from '@influencer-stats/runtime/arguments'
import { embed, type Overrides } from '@influencer-stats/runtime/embed'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { services } from '../../services.ts'
import { listDocumentedCommands, ROOT } from './support/commands.ts'

const SERVICES = ['kv', 'stats', 'prices', 'sse'] as const
const HOUR_MS = 3_600_000
const NODE_COUNT = 3

/** Addresses of the services of a machine, by name. */
type ServiceUrls = Readonly<Record<string, string>>

/** The four lines of docs/deploy.md. */
function readLines(): string[] {
  const commands = listDocumentedCommands().filter(({ file }) => file === 'docs/deploy.md')
  const first = commands.findIndex(({ text }) => text.startsWith('for s in kv stats prices sse'))
  return commands.slice(first, first + 4).map(({ text }) => text)
}

// Runs the CLI of a service in place of pnpm, for the address of the machine.
const PREAMBLE = `
npx() {
  local cli="$ROOT/packages/$3/src/cli.ts" url="URL_$3"
  [ "$3" = kv ] && cli="$ROOT/packages/kv/src/cli/kv.ts"
  "$NODE" "$cli" "\${@:4}" --url "\${!url}" || exit
}
`

/** Runs a line in a folder, for the services of a machine. */
async function runLine(line: string, folder: string, machine: ServiceUrls): Promise<void> {
  const urls = Object.fromEntries(Object.entries(machine).map(([name, url]) => [`URL_${name}`, url]))
  const env = { ...process.env, ...urls, ROOT, NODE: process.execPath }
  await promisify(execFile)('bash', ['-c', PREAMBLE + line], { cwd: folder, env })
}

/** Starts the services of a `pnpm start` line in this process. @param own settings in place of those of the line */
async function startLine(line: string, data: string, own: Overrides, replaced: Overrides = {}) {
  const words = line.replace(/#.*/, '').trim().split(/\s+/)
  const { services: names, flags } = parseArguments(words.slice(words.indexOf('start') + 1))
  expect(names.toSorted()).toEqual([...SERVICES].toSorted())
  const machine: Record<string, string> = {}
  const stops: (() => Promise<boolean>)[] = []
  for (const name of names) {
    const given = flags.filter(({ service }) => service === undefined || service === name)
    const settings = { ...Object.fromEntries(given.map((one) => [one.name, one.value])), ...replaced }
    const mine = Object.entries(own).flatMap(([key, value]) => {
      const [service, setting] = key.includes('.') ? key.split('.') : [name, key]
      return service === name ? [[setting, value] as const] : []
    })
    const definition = await services[name]!()
    const running = await embed(definition, { ...settings, ...Object.fromEntries(mine), data: join(data, name) })
    machine[name] = running.url
    stops.push(() => running.stop())
  }
  const stop = async () => void (await Promise.all(stops.map((one) => one())))
  onTestFinished(stop)
  return { machine, stop }
}

const startDashboard = async (data: string, stats: string) =>
  embed(await services.dashboard!(), { data, statsUri: stats, sseUri: '', pricesUri: '', kvUri: '', demo: 'off' })

/** Runs `pnpm backup` or `pnpm restore` for the dashboard. */
const runForDashboard = (script: string, files: string, ...flags: string[]) =>
  promisify(execFile)(process.execPath, [join(ROOT, `scripts/${script}.ts`), files, 'dashboard', ...flags])

/** Starts a dashboard on the services of a machine, and reads the campaign of a link. */
async function readLink(path: string, data: string, stats: string): Promise<unknown> {
  const dashboard = await startDashboard(data, stats)
  const { name } = await send('GET', `${dashboard.url}${path}/campaign`)
  await dashboard.stop()
  return name
}

/** A YouTube whose numbers grow with each call. */
async function startYoutube() {
  let views = 0
  const server = createServer((request, reply) => {
    const ids = new URL(request.url!, 'http://fake').searchParams.getAll('id').join(',').split(',')
    views += 10
    const items = ids.map((id) => ({ id, statistics: { viewCount: String(views) }, snippet: { title: `Video ${id}` } }))
    reply.end(JSON.stringify({ kind: 'youtube#videoListResponse', items }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function send(method: string, url: string, body?: unknown, type = 'application/json'): Promise<any> {
  const content = typeof body === 'string' ? body : JSON.stringify(body)
  const reply = await fetch(url, {
    method,
    ...(body !== undefined && { body: content, headers: { 'content-type': type } }),
  })
  const text = await reply.text()
  if (!reply.ok) throw new Error(`${method} ${url}: ${reply.status} ${text}`)
  return reply.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text
}

const uuid = (i: number) => `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`

async function fill({ kv, stats, prices, sse }: ServiceUrls): Promise<void> {
  const videos = ['-4lB5EKS5Uk', '-jlLkTtgWUk', '1FEFpk-uIYo']
  await send('PUT', `${stats}/collections/spring`, { videos, name: 'Spring', cost: 10, currency: 'EUR' })
  await send('PUT', `${stats}/collections/empty`, { videos: [] })
  for (let i = 0; i < 20; i++) {
    await send('PUT', `${kv}/v0/entity?id=key${i}`, `value \u2028 ${i}`, 'text/plain')
    const price = {
      id: uuid(i),
      offeringId: `o${i % 3}`,
      groupId: 'g',
      priceSpecId: 's',
      charValues: [],
      value: i + 0.5,
    }
    await send('PUT', `${prices}/prices/${uuid(i)}`, price)
    await send('POST', `${sse}/put?topic=t${i % 4}`, `${i}`, 'text/plain')
  }
  await waitUntil(async () => (await send('GET', `${stats}/collections/spring/stats/history`)).points?.length > 3)
}

/** Runs the export line. Returns the SHA-256 of each file. */
async function exportAll(line: string, machine: ServiceUrls) {
  const folder = createTemporaryFolder()
  await runLine(line, folder, machine)
  const sums = SERVICES.map((name) => {
    const bytes = readFileSync(join(folder, `${name}.ndjson`))
    return [name, createHash('sha256').update(bytes).digest('hex')]
  })
  return { folder, sums }
}

test('the four lines of the document move one machine to three and back, with the same content', async () => {
  const [exportLine, clusterLine, importLine, backLine] = readLines() as [string, string, string, string]
  const root = createTemporaryFolder()
  const common = { 'stats.youtubeUri': await startYoutube(), 'stats.sseUri': '', 'stats.refreshInterval': HOUR_MS }
  const start = 'pnpm start kv stats prices sse --prices.sample no'
  const settings = { ...common, 'sse.history': 'level' }
  const busy = await startLine(start, join(root, 'one'), { ...settings, 'stats.refreshInterval': 100 })
  await fill(busy.machine)
  await busy.stop()
  const one = await startLine(start, join(root, 'one'), settings)
  const before = await exportAll(exportLine, one.machine)
  const { created } = await send('GET', `${one.machine.stats}/collections/spring`)
  const [files, dashboardData] = [join(root, 'files'), join(root, 'dashboard')]
  const dashboard = await startDashboard(join(root, 'one/dashboard'), one.machine.stats!)
  const { path } = await send('POST', `${dashboard.url}/links`, { campaign: 'spring' })
  await runForDashboard('backup', files, '--dashboard.port', new URL(dashboard.url).port)
  await dashboard.stop()
  await runForDashboard('restore', files, '--dashboard.data', dashboardData)
  await one.stop()

  const nats = await startNatsServer({ folder: join(root, 'nats') })
  onTestFinished(() => nats.stop('SIGKILL'))
  const nodes: ServiceUrls[] = []
  const stops: (() => Promise<void>)[] = []
  for (let i = 0; i < NODE_COUNT; i++) {
    const node = await startLine(clusterLine, join(root, `node${i}`), common, { cluster: nats.url, natsReplicas: 1 })
    nodes.push(node.machine)
    stops.push(node.stop)
  }
  await runLine(importLine, before.folder, nodes[0]!)
  await waitUntil(async () => (await fetch(`${nodes[2]!.sse}/value?topic=t3`)).ok)
  let folder = ''
  for (const node of nodes) {
    await waitUntil(async () => (await fetch(`${node.stats}/collections/spring/stats`)).ok)
    const exported = await exportAll(exportLine, node)
    expect(exported.sums).toEqual(before.sums)
    folder = exported.folder
    expect(await readLink(path, dashboardData, node.stats!)).toBe('Spring')
  }
  for (const stop of stops) await stop()

  const back = await startLine(backLine, join(root, 'back'), settings)
  await runLine(importLine, folder, back.machine)
  expect((await exportAll(exportLine, back.machine)).sums).toEqual(before.sums)
  expect(await readLink(path, dashboardData, back.machine.stats!)).toBe('Spring')
  expect(await send('GET', `${back.machine.stats}/collections/spring`)).toMatchObject({ created, name: 'Spring' })
})
