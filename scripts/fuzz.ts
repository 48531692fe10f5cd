import { embed } from '@influencer-stats/runtime/embed'
import { SERVERS } from '@influencer-stats/runtime/settings'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { services } from '../services.ts'

// `pnpm fuzz [service...]`: a schema-driven fuzzer (schemathesis, from PyPI) sends requests to every documented route
// of a running service, valid and invalid by its OpenAPI document. It fails on any undocumented reply. Each server
// adapter is fuzzed with a different random seed, or with all seeds of FUZZ_SEEDS=1,2,3.

const SCHEMATHESIS = '4.32.5'
const GIVEN_SEEDS = process.env.FUZZ_SEEDS?.split(',')
const MAX_EXAMPLES = 50

const CONFIG = fileURLToPath(new URL('schemathesis.toml', import.meta.url))
const venv = fileURLToPath(new URL('../node_modules/.cache/fuzz', import.meta.url))

async function run(command: string, args: string[]): Promise<number> {
  const child = spawn(command, args, { stdio: 'inherit' })
  const [code] = await once(child, 'exit')
  return code ?? 1
}

async function install(): Promise<void> {
  if (existsSync(join(venv, 'bin', 'schemathesis'))) return
  if ((await run('python3', ['-m', 'venv', venv])) !== 0) throw new Error('python3 with venv is needed')
  if ((await run(join(venv, 'bin', 'pip'), ['install', '--quiet', `schemathesis==${SCHEMATHESIS}`])) !== 0) {
    throw new Error('schemathesis could not be installed')
  }
}

const PATH_PATTERNS: Record<string, string[]> = {
  // The fault controls of the stand-in are fuzzed separately: after the command to hang, it would answer no other
  // request.
  youtube: ['^/(?!control/)', '^/control/'],
  // The fuzzer does not support NDJSON, and would wait for the end of a stream. After `v0/writes?stopped=true`, kv would
  // refuse all writes.
  kv: ['^/(?!v0/(?:batch|watch|writes)$)'],
  // A stream never ends, so the fuzzer would wait for ever. The fuzzer does not support the NDJSON of imports.
  sse: ['^/(?!(?:wait|import)$)'],
  // Imports of campaigns take files.
  stats: ['^/(?!(?:campaigns/)?import$)'],
  // The fuzzer supports neither NDJSON (imports, exports, bulk searches) nor JSON in a query. A backup of all prices
  // takes too long.
  prices: ['^/(?!prices$|prices/import|v5/|backup$|facets$)'],
}

/** Fuzzes the paths of one service that match a regular expression, on one server. */
async function fuzz(name: string, server: string, seeds: readonly string[], paths: string): Promise<boolean> {
  const data = mkdtempSync(join(tmpdir(), 'influencer-stats-fuzz-'))
  const youtube = await embed(await services.youtube!())
  const definition = await services[name]!()
  const uris = Object.hasOwn(definition.settings, 'youtubeUri') ? { youtubeUri: youtube.url } : undefined
  const running = name === 'youtube' ? youtube : await embed(definition, { data, server, ...uris })
  let clean = true
  for (const seed of seeds) {
    const code = await run(join(venv, 'bin', 'schemathesis'), [
      `--config-file=${CONFIG}`,
      'run',
      `${running.url}/openapi.json`,
      '--checks=all',
      `--seed=${seed}`,
      `--max-examples=${MAX_EXAMPLES}`,
      `--include-path-regex=${paths}`,
      '--no-color',
    ])
    clean &&= code === 0
  }
  await running.stop()
  await youtube.stop()
  rmSync(data, { recursive: true })
  return clean
}

await install()
const named = process.argv.slice(2)
for (const name of named.length > 0 ? named : Object.keys(services)) {
  for (const paths of PATH_PATTERNS[name] ?? ['^/']) {
    for (const [turn, server] of SERVERS.entries()) {
      if (!(await fuzz(name, server, GIVEN_SEEDS ?? [String(turn + 1)], paths))) process.exitCode = 1
    }
  }
}
