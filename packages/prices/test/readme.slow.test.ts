import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { expect, it, onTestFinished } from 'vitest'
import { examplePrice } from '../src/sample/examples.ts'
import { prices as definition } from '../src/service.ts'
import { startPrices } from './support/prices.ts'

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const hasShell = ['bash', 'curl'].every((name) => spawnSync(name, ['--version']).error === undefined)

/** Returns the blocks of a language below a heading, one after another. */
function readBlocks(title: string, language: string): string {
  const from = README.indexOf(`# ${title}\n`)
  const section = README.slice(from, README.slice(from).search(/\n##/) + from)
  const blocks = section.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))
  return Array.from(blocks, ([, block]) => block).join('')
}

/** Runs a script that fails with its first command, and whose outputs are separate lines. */
async function runShell(script: string, url: string): Promise<string[]> {
  const preamble = `set -e -o pipefail\ncurl() { command curl -sSf "$@" || return; [ -t 1 ] || echo; }\n`
  const child = spawn('bash', ['-c', preamble + script.replaceAll('localhost:8084', new URL(url).host)], {
    cwd: createTemporaryFolder(),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  expect([code, stderr]).toEqual([0, ''])
  return stdout.split('\n').filter(Boolean)
}

async function start(sample: 'yes' | 'no') {
  const prices = await startPrices({ data: createTemporaryFolder(), sample })
  onTestFinished(async () => void (await prices.stop()))
  return prices
}

it.skipIf(!hasShell)('every command of the quick start prints what the README states', async () => {
  const prices = await start('no')
  await prices.import([examplePrice])
  const script = readBlocks('Quick start', 'sh')
  const stated = Array.from(
    script.matchAll(/# => (.*)$/gm),
    ([, line]) => new RegExp(`^${line!.split('…').map(RegExp.escape).join('.+')}$`),
  )
  expect(stated.length).toBeGreaterThan(7)
  const printed = await runShell(script, prices.url)
  expect(printed.map((line, i) => (stated[i]?.test(line) ? stated[i] : line))).toEqual(stated)
})

/** Returns a value of the README in which `...` stands for omitted items and ends of texts. */
function toExpectation(value: unknown): unknown {
  if (typeof value === 'string' && value.endsWith('...')) return expect.stringContaining(value.slice(0, -3))
  if (Array.isArray(value)) return value.filter((one) => one !== '...').map(toExpectation)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, toExpectation(one)]))
}

it.skipIf(!hasShell)('the example of facets prints what the README states', async () => {
  const prices = await start('yes')
  const stated: any = toExpectation(
    JSON.parse(readBlocks('Facets', 'json').replaceAll(/(?<=[,\s])\.\.\.(?=[,\]])/g, '"..."')),
  )
  const [printed] = await runShell(`S=localhost:8084\n${readBlocks('Facets', 'sh')}`, prices.url)
  const facets = JSON.parse(printed!)
  expect(facets.count).toBe(stated.count)
  for (const list of ['offerings', 'groups', 'specs'])
    expect(facets[list].values.slice(0, 2)).toEqual(stated[list].values)
  for (const facet of stated.characteristics.values) {
    const found = facets.characteristics.values.find((one: { char: string }) => one.char === facet.char)
    expect({ ...found, values: found.values.slice(0, 2) }).toEqual(facet)
  }
})

it.skipIf(!hasShell).each(['yes', 'no'] as const)(
  'the example of the ready table works with --sample %s',
  async (sample) => {
    const prices = await start(sample)
    const before = (await prices.request('GET', '/facets?facet=specs')).body.count
    const [put, found] = (await runShell(definition.example!(prices.url), prices.url)).map((line) => JSON.parse(line))
    expect(found).toEqual({ id: put.id, spec: put.priceSpecId, value: put.value, currency: 'USD' })
    const { count } = (await prices.request('GET', '/facets?facet=specs')).body
    expect(count).toBe(sample === 'yes' ? before : 1)
  },
)
