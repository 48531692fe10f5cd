import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { EXPECTED_RESULTS } from './support/expected-results.ts'
import { installPackedClient, MACHINE_NODE } from './support/packed-client.ts'
import { startServices, type ServiceUrls } from './support/start-services.ts'

const CONSUMER = fileURLToPath(new URL('fixtures/consumer.mjs', import.meta.url))
const TYPED_CONSUMER = fileURLToPath(new URL('fixtures/consumer-types.txt', import.meta.url))
const COMPILER = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url))
const run = promisify(execFile)
let project: string
let urls: ServiceUrls

beforeAll(async () => {
  urls = await startServices()
  project = await installPackedClient()
})

it('the installed client works in the Node of this machine', async () => {
  copyFileSync(CONSUMER, join(project, 'consumer.mjs'))
  const code = `import { useClient } from './consumer.mjs'
    process.stdout.write(JSON.stringify(await useClient(${JSON.stringify(urls)})))`
  writeFileSync(join(project, 'main.mjs'), code)
  const { stdout } = await run(MACHINE_NODE, ['main.mjs'], { cwd: project })
  expect(JSON.parse(stdout)).toEqual(EXPECTED_RESULTS)
})

it('a consumer of the installed client passes the compiler', async () => {
  copyFileSync(TYPED_CONSUMER, join(project, 'consumer.ts'))
  const compilerOptions = {
    target: 'es2022',
    module: 'nodenext',
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: [],
    strict: true,
    noEmit: true,
  }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }))
  const { stdout } = await run(process.execPath, [COMPILER, '-p', project]).catch((error) => error)
  expect(stdout).toBe('')
})

/** Starts an example of the installed package. */
function startExample(name: string, args: readonly string[] = []) {
  const path = `node_modules/@influencer-stats/client/examples/${name}.mjs`
  const child = spawn(MACHINE_NODE, [path, ...args], { cwd: project, env: { ...process.env, ...urls } })
  onTestFinished(() => void child.kill())
  const example = { output: '', errors: '', end: once(child, 'exit') }
  child.stdout.on('data', (text) => (example.output += text))
  child.stderr.on('data', (text) => (example.errors += text))
  return example
}

it('the example of live numbers prints every change', async () => {
  const example = startExample('live-numbers', ['live'])
  const numbers = () => Array.from(example.output.matchAll(/([\d,]+) views/g), ([, views]) => views)
  // The stand-in changes the numbers of one of the videos at each refresh.
  await waitUntil(() => example.errors !== '' || new Set(numbers()).size > 1)
  expect(example.errors).toBe('')
})

it('the example of prices finds one price', async () => {
  const prices = [12, 24, 36].flatMap((term) =>
    ['red', 'blue'].map((colour) => ({
      id: `${colour}-${term}`,
      offeringId: 'o',
      groupId: 'g',
      priceSpecId: 's',
      charValues: [
        { char: 'Term', value: `${term}` },
        { char: 'Colour', value: colour },
      ],
      value: term,
    })),
  )
  const body = prices.map((price) => `${JSON.stringify(price)}\n`).join('')
  const headers = { 'content-type': 'application/x-ndjson' }
  await fetch(`${urls.PRICES_URL}/prices/import?replace=true`, { method: 'POST', headers, body })
  const example = startExample('price-look-up')
  await example.end
  expect(example).toMatchObject({
    output: expect.stringMatching(/^6 prices\n[^]*\n1 prices\nblue-12: 12 USD\n$/),
    errors: '',
  })
})

it('the example of a lock runs one process at a time', async () => {
  const changes: string[] = []
  const watching = new AbortController()
  onTestFinished(() => watching.abort())
  const watch = await fetch(`${urls.KV_URL}/v0/watch?prefix=locks/`, { signal: watching.signal })
  void (async () => {
    for await (const text of watch.body!.pipeThrough(new TextDecoderStream()))
      changes.push(...Array.from(text.matchAll(/^event: (.*)$/gm), ([, op]) => op!))
  })().catch(() => {})
  const first = startExample('lock')
  await waitUntil(() => first.output.includes('acquired'))
  const second = startExample('lock')
  await Promise.all([first.end, second.end])
  expect(first.output).toBe('acquired\nreleased\n')
  expect(second.output).toMatch(/^(?:waiting\n)*acquired\nreleased\n$/)
  await waitUntil(() => changes.length >= 4)
  expect(changes).toEqual(['put', 'delete', 'put', 'delete'])
})
