import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { cutRare, removeFonts, removePaths, type TickFrame } from '../src/clinic-cleanup.ts'

const fromHere = createRequire(import.meta.url)
const fromClinic = createRequire(fromHere.resolve('clinic/package.json'))

describe('the patch of clinic flame', () => {
  const FrameNode = fromClinic('@clinic/flame/analysis/frame-node.js')
  const system = { mainDirectory: '/influencer-stats', pathSeparator: '/', nodeVersions: process.versions }

  function getCategory(name: string): string {
    const frame = new FrameNode({ name, value: 1, top: 1 })
    frame.categorise(system, 'influencer-stats')
    return frame.category
  }

  it.each([
    ['~debug file:///influencer-stats/packages/stats/src/logger/console.ts:10:5', 'app'],
    ['~debug /influencer-stats/packages/stats/src/logger/console.ts:10:5', 'app'],
    ['*send /influencer-stats/packages/x.mts:1:1', 'app'],
    ['*send /influencer-stats/packages/x.cjs:1:1', 'app'],
    ['*onSend /influencer-stats/node_modules/fastify/lib/reply.js:10:5', 'deps'],
    ['*emit node:events:489:44', 'core'],
    ['Builtin:ArrayMap [CODE:Builtin]', 'all-v8'],
  ])('files %s under %s', (name, category) => {
    expect(getCategory(name)).toBe(category)
  })
})

describe('a clinic snapshot', () => {
  it('names no path of this machine', () => {
    const root = '/home/somebody/project/'
    const text = [
      `*f file://${root}packages/a.ts:1:1`,
      `*g ${root}node_modules/.pnpm/fastify@5.0.0/node_modules/fastify/x.js:1:1`,
      '/usr/lib/x86_64-linux-gnu/libc.so.6 [SHARED_LIB]',
    ].join('\n')
    expect(removePaths(text, root).split('\n')).toEqual([
      '*f /influencer-stats/packages/a.ts:1:1',
      '*g /influencer-stats/node_modules/fastify/x.js:1:1',
      'libc.so.6 [SHARED_LIB]',
    ])
  })

  it('fetches no fonts', () => {
    const html = '<script>link("https://clinicjs.org/assets/css/fonts.css")</script>'
    expect(removeFonts(html)).toBe('<script>link("data:text/css,")</script>')
  })

  it('cuts rare frames without the loss of a sample', () => {
    const stack = (...names: string[]): TickFrame[] => names.map((name) => ({ name, type: 'JS' }))
    const common = stack('a', 'b')
    const ticks = [common, common, stack('a', 'b', 'rare', 'rarer'), stack('alone')]
    expect(cutRare(ticks, 2)).toEqual([common, common, common, []])
  })
})
