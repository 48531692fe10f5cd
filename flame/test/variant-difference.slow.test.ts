import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { findChromium } from '@influencer-stats/runtime/testing/chromium'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { ROOT } from '../src/paths.ts'
import { startProfiled } from '../src/recording/profiled-process.ts'
import { recordPair } from '../src/recording/record-pair.ts'
import { parseVariantDifference, VARIANT_DIFFERENCE_HELP, writeVariantDifference } from '../src/variant-difference.ts'

const FIXTURE = fileURLToPath(new URL('./fixtures/planted-service.ts', import.meta.url))
const LOAD = {
  requests: [{ method: 'GET', path: '/' }],
  expect: { status: 200, includes: '"row 499"' },
  connections: 4,
}

/** Profiles the usual server and one with a planted function. */
async function recordPlanted() {
  const servers = [await startProfiled(FIXTURE, []), await startProfiled(FIXTURE, ['slow'])] as const
  try {
    return await recordPair(servers, LOAD, 2)
  } finally {
    for (const server of servers) await server.stop()
  }
}

describe('two servers under the same load in turn, one with a planted function', () => {
  const output = join(createTemporaryFolder(), 'new', 'difference.html')
  let lines: string[]
  beforeAll(async () => {
    lines = writeVariantDifference(await recordPlanted(), ['plain', 'planted'], output)
  })

  it('have a table with the planted function first', () => {
    expect(lines[0]).toMatch(/^planted: [\d.]+ us per request; plain [\d.]+ us: \+/)
    const title = lines.indexOf('Functions that cost more with planted (us per request, self):')
    expect(lines[title + 1]).toMatch(/^change +plain +planted +function +location$/)
    expect(lines[title + 2]).toMatch(
      /^\+[\d.]+ ± .* 0\.000 .*plantedWork +flame\/test\/fixtures\/planted-service\.ts:8$/,
    )
    // The time of the function is nearly all of the difference. Noise and other functions are the rest.
    const [own, base, planted] = [/planted: ([\d.]+)/, /plain ([\d.]+)/, /: \+([\d.]+)/].map((pattern) =>
      Number(pattern.exec(lines[0]!)![1]),
    )
    expect(own! - base!).toBeCloseTo(planted!, 0)
    expect(Number(/^\+([\d.]+)/.exec(lines[title + 2]!)![1]) / planted!).toBeGreaterThan(0.6)
  })

  it('have a page that names both, colours the function, and no path of this machine', async () => {
    const browser = await chromium.launch({ ...(await findChromium()), args: ['--no-sandbox'] })
    onTestFinished(() => browser.close())
    const page = await browser.newPage()
    const faults: string[] = []
    page.on('pageerror', (error) => void faults.push(String(error)))
    await page.goto(pathToFileURL(output).href)
    await page.waitForSelector('.frame >> text=plantedWork')
    expect(await page.textContent('#legend')).toContain('costs more than plain')
    expect(await page.textContent('#grown tr:nth-child(1)')).toMatch(/function.*planted.*plain.*change/)
    expect(await page.textContent('#grown tr:nth-child(2)')).toMatch(/plantedWork.*only in planted/)
    expect(faults).toEqual([])
    expect(readFileSync(output, 'utf8')).not.toContain(ROOT)
  })
})

describe('pnpm flame diff', () => {
  it('parses its arguments', () => {
    expect(parseVariantDifference(['stats/v1', 'stats/v2', '--duration', '2', '--output', 'x.html'])).toEqual({
      names: ['stats/v1', 'stats/v2'],
      seconds: 2,
      output: 'x.html',
    })
    expect(parseVariantDifference(['stats/v1', 'stats/v2']).output).toMatch(/flame-stats-v1-to-stats-v2\.html$/)
    for (const flag of ['duration', 'output']) expect(VARIANT_DIFFERENCE_HELP).toContain(`--${flag}`)
  })

  it.each([
    [['stats/v1'], 'two variants'],
    [['stats/v1', 'stats/v2', '--duration', 'x'], '--duration'],
  ])('names the invalid argument of %j', (argv, message) => {
    expect(() => parseVariantDifference(argv)).toThrow(message)
  })
})
