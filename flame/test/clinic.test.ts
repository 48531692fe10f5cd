import { describe, expect, it } from 'vitest'
import {
  cutRare,
  removeFonts,
  removePaths,
  toJavaScriptNames,
  toTypeScriptNames,
  type TickFrame,
} from '../src/recording/clinic-cleanup.ts'

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

  it('names TypeScript files so that clinic counts them as code of the app, and reverts this in the page', () => {
    const names = '*f /influencer-stats/a.ts:1:1\n~g /influencer-stats/b.mts:2:1\n*h /x.js:3:1\nemit node:events:489:44'
    const javaScript = toJavaScriptNames(names)
    expect(javaScript).toBe(names.replace('a.ts', 'a.ts.js').replace('b.mts', 'b.mts.js'))
    expect(toTypeScriptNames(`${javaScript}\n"fileName":"./a.ts.js"`)).toBe(`${names}\n"fileName":"./a.ts"`)
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
