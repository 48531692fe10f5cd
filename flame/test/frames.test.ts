import { describe, expect, it } from 'vitest'
import { toFrame, getHome } from '../src/graph/frames.ts'

const ROOT = '/home/somebody/influencer-stats/'
const frame = (url: string, scriptId = '7') =>
  toFrame({ functionName: 'f', scriptId, url, lineNumber: scriptId === '0' ? -1 : 9 }, ROOT)

describe('a frame', () => {
  it.each([
    [`file://${ROOT}packages/stats/src/app.ts`, 'packages/stats/src/app.ts', 'app', 'packages/stats/src/app.ts'],
    [
      `${ROOT}node_modules/.pnpm/fastify@5.12.8/node_modules/fastify/lib/reply.js`,
      'fastify/lib/reply.js',
      'dependency',
      'fastify',
    ],
    [
      `file://${ROOT}node_modules/.pnpm/x@1/node_modules/@fastify/cors/index.js`,
      '@fastify/cors/index.js',
      'dependency',
      '@fastify/cors',
    ],
    [
      'node:internal/stream_base_commons',
      'node:internal/stream_base_commons',
      'node',
      'node:internal/stream_base_commons',
    ],
    ['', 'generated code', 'dependency', 'generated code'],
    ['/opt/elsewhere/script.js', 'script.js', 'app', 'script.js'],
  ])('of %s', (url, file, category, home) => {
    const found = frame(url)
    expect(found).toEqual({ name: 'f', file, line: 10, category })
    expect(getHome(found)).toBe(home)
  })

  it('of native code has no line', () => {
    expect(frame('', '0')).toEqual({ name: 'f', file: '', line: 0, category: 'native' })
    expect(frame('wasm://wasm/0034eca6')).toEqual({ name: 'f', file: 'WebAssembly', line: 0, category: 'native' })
  })
})
