// `pnpm generate`: writes clients/openapi/ from the routes of the services, and clients/js/src/generated/ from it. With
// `--check` it writes nothing, and fails if a file differs.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import openapiTS, { astToString } from 'openapi-typescript'
import { embed, type Overrides } from '@influencer-stats/runtime/embed'
import { services } from '../../../services.ts'

const CLIENTS = new URL('../../', import.meta.url)
const SERVICES = new URL('../../../services.ts', import.meta.url).href
/** Settings with which a service starts without other services and without data. */
const SETTINGS: Readonly<Record<string, Overrides>> = {
  stats: { youtubeUri: 'http://127.0.0.1:9', youtubeApiKey: 'none' },
  kv: {},
  sse: {},
  prices: { sample: 'no' },
}
/** Routes of every service, which are for operators. */
const SYSTEM_ROUTES = ['/', '/healthz', '/readyz', '/version', '/metrics', '/backup']
const FIRST_REFUSAL_STATUS = 300

type ApiDocument = Parameters<typeof openapiTS>[0] & {
  paths: Record<string, Record<string, { responses?: Record<string, unknown> }>>
  info: { version: string }
}

/** Reads the document of a service, without its system routes and without its error replies, which are all problems. */
async function readDocument(name: string, settings: Overrides): Promise<ApiDocument> {
  const data = mkdtempSync(join(tmpdir(), 'generate-'))
  const running = await embed(await services[name]!(), { data, ...settings }, SERVICES)
  try {
    const document = (await (await fetch(`${running.url}/openapi.json`)).json()) as ApiDocument
    for (const route of SYSTEM_ROUTES) delete document.paths[route]
    for (const operations of Object.values(document.paths)) {
      for (const { responses = {} } of Object.values(operations)) {
        for (const status of Object.keys(responses)) {
          if (Number(status) >= FIRST_REFUSAL_STATUS) delete responses[status]
        }
      }
    }
    return document
  } finally {
    await running.stop()
    rmSync(data, { recursive: true, force: true })
  }
}

/** Returns a copy without examples, which would be most of the lines of the types. */
const withoutExamples = (document: ApiDocument): ApiDocument =>
  JSON.parse(JSON.stringify(document, (key, value) => (key === 'example' || key === 'examples' ? undefined : value)))

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
const old: string[] = []

function write(path: string, text: string): void {
  const file = new URL(path, CLIENTS)
  let existing: string | undefined
  try {
    existing = readFileSync(file, 'utf8')
  } catch {
    // A new file.
  }
  if (existing === text) return
  old.push(fileURLToPath(file))
  if (!values.check) writeFileSync(file, text)
}

for (const [name, settings] of Object.entries(SETTINGS)) {
  const document = await readDocument(name, settings)
  write(`openapi/${name}.json`, `${JSON.stringify(document, undefined, 1)}\n`)
  const types = astToString(await openapiTS(withoutExamples(document)))
  write(`js/src/generated/${name}.ts`, `// Written by \`pnpm generate\` from clients/openapi/${name}.json.\n\n${types}`)
}
process.stdout.write(`${old.length} ${values.check ? 'old' : 'new'} files\n${old.map((file) => `${file}\n`).join('')}`)
if (values.check && old.length > 0) {
  process.stderr.write('Run `npx -y pnpm@12.21.0 generate` and commit the files.\n')
  process.exitCode = 1
}
