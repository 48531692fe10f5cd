import { parseArguments } from '@influencer-stats/runtime/arguments'
import { resolveConfigs, getSettings } from '@influencer-stats/runtime/resolve-config'
import { findFreePort } from '@influencer-stats/runtime/testing/free-port'
import { START_SCRIPT, spawnStart, type ReadyRow } from '@influencer-stats/runtime/testing/spawn-start'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { services } from '../../services.ts'
import { parseCommands, listDocumentedCommands, ROOT, type DocumentedCommand } from './support/commands.ts'

/** Commands that this test does not run, with the reason. */
const SKIPPED_COMMANDS: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/pnpm(@\S+)? (test|check|format|typecheck|lint)\b/, 'this is a test, which would run itself; CI runs the rest'],
  [/pnpm(@\S+)? (fuzz|test:\w+)\b/, 'takes minutes: CI runs it'],
  [/pnpm(@\S+)? bench\b/, 'takes minutes, and a machine of its own; bench/test tries each kind of row'],
  [/pnpm(@\S+)? flame\b/, 'takes minutes; flame/test makes a graph'],
  [/pnpm(@\S+)? cluster\b/, 'ends by a signal; packages/kv/test/cluster-node.slow.test.ts has nodes of its own'],
  [/http:\/\/[ab]:/, 'names a machine that there is not'],
  [/^for s in kv stats prices sse/, 'deploy/test/one-three-one.slow.test.ts runs these lines'],
  [/^git clone/, 'names a repository that there is not'],
  [/\/(etc|var\/lib)\/|^systemctl /, 'changes this machine; systemd.slow.test.ts runs it in a container'],
  [/^docker /, 'needs a daemon'],
  [/^deploy\/stranger\.sh/, 'takes minutes, and root'],
  [
    /^(pip|python3?|mypy|cd clients\/python)\b/,
    'installs packages; clients/python/test tries the same in a folder of its own',
  ],
  [
    /pack:js|\/tmp\/live|^npm install|client\/examples/,
    'installs a package; clients/js/test tries the same in a folder of its own',
  ],
]

const START = /^(?<env>(?:\w+=\S+ )*)(?:npx -y )?pnpm(?:@\S+)? start\b(?<args>[^#&]*)(?!.*&)/

// Ports in the documents.
const PORTS: Record<string, string> = {
  8000: 'dashboard',
  8080: 'stats',
  8081: 'youtube',
  8082: 'kv',
  8083: 'sse',
  8084: 'prices',
}

/** Checks the settings of a start. Other tests check that a service starts with them. */
async function checkStart({ text }: DocumentedCommand): Promise<void> {
  const { env = '', args = '' } = START.exec(text)!.groups!
  const given = Object.fromEntries(
    env
      .trim()
      .split(' ')
      .filter(Boolean)
      .map((one) => one.split('=') as [string, string]),
  )
  await checkArguments(args.trim().split(/\s+/).filter(Boolean), given)
}

/** Checks the arguments of the start script. @throws StartError if one is unknown or has a wrong value */
async function checkArguments(args: readonly string[], given: NodeJS.ProcessEnv): Promise<void> {
  const { services: names, flags } = parseArguments(args)
  const all = names.length > 0 ? names : Object.keys(services)
  const definitions = await Promise.all(all.map((name) => services[name]!()))
  resolveConfigs(definitions, flags, given)
}

// Replaces pnpm (runs the script of package.json) and curl (records its replies).
const PREAMBLE = `
pnpm() {
  case "$1" in
    start) shift; cd "$HOUSE"; exec "$NODE" scripts/start.mjs "$@" --data "$FOLDER/own" --port "$OWN_PORT" > /dev/null ;;
    kv) set -- "$@" $(case "$*" in *--url*) ;; *) echo --url "http://localhost:$KV_PORT" ;; esac); "$NODE" "$HOUSE/packages/kv/src/cli/kv.ts" "\${@:2}" ;;
    stats) set -- "$@" $(case "$*" in *--url*|*--from*) ;; *) echo --url "http://localhost:$STATS_PORT" ;; esac); "$NODE" "$HOUSE/packages/stats/src/cli.ts" "\${@:2}" ;;
    sse) set -- "$@" $(case "$*" in *--url*|*--from*) ;; *) echo --url "http://localhost:$SSE_PORT" ;; esac); "$NODE" "$HOUSE/packages/sse/src/cli.ts" "\${@:2}" ;;
    prices) set -- "$@" $(case "$*" in *--url*) ;; *) echo --url "http://localhost:$PRICES_PORT" ;; esac); "$NODE" "$HOUSE/packages/prices/src/cli.ts" "\${@:2}" ;;
    backup|restore) "$NODE" "$HOUSE/scripts/$1.ts" "\${@:2}" ;;
    *) echo "no such script: $1" >&2; return 1 ;;
  esac
}
npx() { shift 2; pnpm "$@"; }
curl() {
  # What is begun beside it takes a while; a stream has no end of its own.
  local how="--max-time 20 --retry 30 --retry-delay 1 --retry-connrefused" seconds said code
  case "$*" in
    -N*) ;;
    *) command curl -sS $how -w '%{stderr}status %{http_code}\\n' "$@"; return ;;
  esac
  for seconds in 1 5 20; do
    { said=$(command curl -sS --max-time $seconds -w '%{stderr}status %{http_code}\\n' "$@" 2>&1 >&3); } 3>&1
    code=$?
    # A busy machine may not have begun the reply within a second.
    case "$said" in *"status 000"*) ;; *) break ;; esac
  done
  echo "$said" >&2
  [ $code = 28 ] || return $code
}
trap 'kill $(jobs -p) 2> /dev/null; wait' EXIT
`

/** Some prices of the sample catalog, which has half a million and takes too long. */
async function importPrices(url: string): Promise<void> {
  const lines = ['12', '24'].map((value, i) => {
    const id = `00000000-0000-4000-8000-00000000000${i}`
    const charValues = [{ char: 'Term', value }]
    return JSON.stringify({ id, offeringId: 'o', groupId: 'group1', priceSpecId: 'MRC', charValues, value: 1 })
  })
  const headers = { 'content-type': 'application/x-ndjson' }
  const reply = await fetch(`${url}/prices/import`, { method: 'POST', headers, body: lines.join('\n') })
  if (!reply.ok) throw new Error(await reply.text())
}

interface CommandOutcome {
  readonly exit: number
  /** Statuses of its requests. */
  readonly statuses: readonly number[]
  readonly said: string
}

/** Runs the commands of a document in one shell, in order. */
async function runAll(
  commands: readonly DocumentedCommand[],
  rows: Record<string, ReadyRow>,
): Promise<CommandOutcome[]> {
  const folder = createTemporaryFolder()
  const ownPort = await findFreePort()
  writeFileSync(join(folder, 'value.json'), '{"number":1}')
  writeFileSync(join(folder, '...'), 'a token that nobody needs')
  // The following commands are for a service that the document starts.
  const own = commands.findIndex(({ text }) => text.startsWith('export MERCURE'))
  const steps = commands.map(({ text }, i) => {
    const portOf = (port: string) => (own >= 0 && i >= own ? ownPort : rows[PORTS[port]!]!.port)
    const here = text
      .replaceAll(/localhost:(80\d\d)/g, (_, port) => `localhost:${portOf(port)}`)
      .replaceAll(/\/(backup|srv)\//g, `${folder}/$1-`)
    // A group would have its own variables after a pipe.
    return `exec 2> ${i}.err\n${here}\necho $? > ${i}.exit\n`
  })
  const file = join(folder, 'commands.sh')
  writeFileSync(file, PREAMBLE + steps.join(''))
  const ports = Object.entries(rows).map(([name, { port }]) => [`${name.toUpperCase()}_PORT`, String(port)])
  const env = { ...process.env, ...Object.fromEntries(ports), HOUSE: ROOT, NODE: process.execPath, FOLDER: folder }
  await promisify(execFile)('bash', [file], { cwd: folder, env: { ...env, OWN_PORT: String(ownPort) }, maxBuffer: 1e8 })
  return commands.map((_, i) => {
    const said = readFileSync(join(folder, `${i}.err`), 'utf8')
    const statuses = Array.from(said.matchAll(/^status (\d+)$/gm), ([, status]) => Number(status))
    return { exit: Number(readFileSync(join(folder, `${i}.exit`), 'utf8')), statuses, said }
  })
}

test('the commands of a block are told apart as a shell would', () => {
  const block = `a=1 # it's one\nb "x\ny" \\\n  c\n\n# nothing\nd <<END\n'\nEND\ne 'f' "g\\"h" # i "\n`
  expect(parseCommands(block)).toEqual([`a=1 # it's one`, `b "x\ny" \\\n  c`, `d <<END\n'\nEND`, `e 'f' "g\\"h" # i "`])
  expect(() => parseCommands('a "')).toThrow()
})

const hasShell = ['bash', 'curl', 'openssl'].every((name) => spawnSync(name, ['--version']).error === undefined)

test.skipIf(!hasShell)(
  'every command of every document works as it is written, or it is said why it is not run',
  async () => {
    const all = listDocumentedCommands()
    expect(new Set(all.map(({ file }) => file)).size).toBeGreaterThan(9)
    for (const [pattern] of SKIPPED_COMMANDS) expect(all.filter(({ text }) => pattern.test(text))).not.toHaveLength(0)
    const tried = all.filter(({ text }) => !SKIPPED_COMMANDS.some(([pattern]) => pattern.test(text)))
    const starts = tried.filter(({ text }) => START.test(text))
    expect(starts.length).toBeGreaterThan(5)
    for (const start of starts) await checkStart(start)

    const common = ['--port', '0', '--data', createTemporaryFolder(), '--log-level', 'warn', '--sample', 'no']
    const started = spawnStart(common, {}, { script: START_SCRIPT })
    const rows = await started.waitUntilReady()
    await importPrices(rows.prices!.url)
    const byFile = Map.groupBy(
      tried.filter((one) => !starts.includes(one)),
      ({ file }) => file,
    )
    const wrong: string[] = []
    let run = 0
    for (const commands of byFile.values()) {
      for (const [i, { exit, statuses, said }] of (await runAll(commands, rows)).entries()) {
        const { file, text } = commands[i]!
        const isAnswered = statuses.every((status) => status >= 200 && status < 400)
        if (exit !== 0 || !isAnswered) wrong.push(`${file}: ${text}\n  exit ${exit} ${said}`)
        run++
      }
    }
    expect(wrong).toEqual([])
    expect(run).toBeGreaterThan(80)
    expect((await started.stop()).code).toBe(0)
  },
)

test('the image runs the commands that its Dockerfile shows', async () => {
  const text = readFileSync(`${ROOT}/deploy/Dockerfile`, 'utf8').replaceAll('\n# ', ' ')
  const [, shown] = /`docker run influencer-stats ([^`]+)`/.exec(text)!
  const [, command] = /^CMD (\[.*\])$/m.exec(text)!
  const env = { API_TOKEN: 'a-token-of-the-image', ALLOWED_HOSTS: 'localhost' }
  for (const args of [shown!.split(' '), JSON.parse(command!) as string[]]) await checkArguments(args, env)
  await expect(checkArguments(['start', 'kv'], env)).rejects.toThrow()
})

test('--help describes each setting of each service in a short noun phrase', async () => {
  for (const load of Object.values(services)) {
    const definition = await load()
    for (const [name, { description }] of Object.entries(getSettings(definition))) {
      expect(description.length, `${definition.name}.${name}`).toBeLessThan(70)
      expect(description, `${definition.name}.${name}`).not.toMatch(/^(what|where|whether|who|how|most|a|the|so)\b/i)
    }
  }
})
