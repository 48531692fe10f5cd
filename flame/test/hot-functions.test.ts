import { describe, expect, it } from 'vitest'
import { components as serviceComponents } from '../src/components.ts'
import { listCallers, listHotFunctions, sumHomes, sumComponents } from '../src/graph/hot-functions.ts'
import { readAllocationProfile, readCpuProfile, type Profile } from '../src/graph/profile.ts'

const ROOT = '/home/somebody/influencer-stats/'

interface CallShape {
  readonly name: string
  readonly url?: string
  readonly self?: number
  readonly callees?: readonly CallShape[]
}

const toCallFrame = ({ name, url = '' }: CallShape) => ({
  functionName: name,
  scriptId: url === '' ? '0' : '7',
  url,
  lineNumber: url === '' ? -1 : 9,
  columnNumber: 0,
})

/** A CPU profile as V8 writes it: a flat list of nodes, the root first. */
function createCpuProfile(...callees: CallShape[]): Profile {
  const nodes: any[] = []
  function add(shape: CallShape): number {
    const node = {
      id: nodes.length + 1,
      callFrame: toCallFrame(shape),
      hitCount: shape.self ?? 0,
      children: [] as number[],
    }
    nodes.push(node)
    node.children = (shape.callees ?? []).map(add)
    return node.id
  }
  add({ name: '(root)', callees })
  return readCpuProfile({ nodes }, ROOT)
}

const createAppCall = (name: string, self: number, callees: CallShape[] = []): CallShape => ({
  name,
  url: `file://${ROOT}packages/stats/src/logger/${name}.ts`,
  self,
  callees,
})

describe('a CPU profile', () => {
  it('counts only work: neither idle time nor native code without JavaScript', () => {
    const profile = createCpuProfile(
      { name: '(idle)', self: 1_000 },
      { name: '(program)', self: 50 },
      { name: '(garbage collector)', self: 20 },
      createAppCall('log', 80),
    )
    expect(profile).toMatchObject({ unit: 'samples', total: 100, idle: 1_000, program: 50 })
    expect(listHotFunctions(profile)).toMatchObject([
      { function: 'log', self: 80, total: 80, file: 'packages/stats/src/logger/log.ts', line: 10, category: 'app' },
      { function: '(garbage collector)', self: 20, total: 20, category: 'native' },
    ])
  })

  it('excludes the profiler', () => {
    const harness: CallShape = {
      name: 'record',
      url: `file://${ROOT}flame/src/recording/profile-control.ts`,
      self: 9,
      callees: [createAppCall('x', 1)],
    }
    expect(createCpuProfile(harness, createAppCall('log', 5)).total).toBe(5)
  })

  it('merges a function that was compiled twice', () => {
    const [log, ...others] = listHotFunctions(createCpuProfile(createAppCall('log', 1), createAppCall('log', 3)))
    expect(log).toMatchObject({ self: 100, total: 100 })
    expect(others).toEqual([])
  })
})

describe('hot functions', () => {
  it('count a recursive function once', () => {
    const functions = listHotFunctions(
      createCpuProfile(
        createAppCall('walk', 10, [
          createAppCall('walk', 20, [createAppCall('leaf', 10, [createAppCall('walk', 60)])]),
        ]),
      ),
    )
    expect(functions).toMatchObject([
      { function: 'walk', self: 90, total: 100 },
      { function: 'leaf', self: 10, total: 70 },
    ])
  })

  it('have self times that add up to the total', () => {
    const functions = listHotFunctions(
      createCpuProfile(createAppCall('a', 1, [createAppCall('b', 1), createAppCall('c', 1)])),
    )
    expect(functions.reduce((sum, { self }) => sum + self, 0)).toBeCloseTo(100, 0)
  })

  it('are 0 % of an empty profile', () => {
    expect(listHotFunctions(createCpuProfile({ name: '(idle)', self: 9 }))).toEqual([])
  })

  it('include functions of the app without own time', () => {
    const nativeCalls = Array.from({ length: 60 }, (_, i) => ({ name: `native${i}`, self: 2 }))
    const handler = listHotFunctions(createCpuProfile(createAppCall('handler', 0, nativeCalls))).find(
      (one) => one.function === 'handler',
    )
    expect(handler).toMatchObject({ self: 0, total: 100 })
  })
})

describe('shares', () => {
  const fetch: CallShape = { name: 'write', self: 30 }
  const profile = createCpuProfile(
    createAppCall('log', 10, [{ name: 'writeString', self: 40 }]),
    { name: 'request', url: 'node:internal/deps/undici/undici', self: 10, callees: [fetch] },
    { name: '(garbage collector)', self: 6 },
    { name: 'tick', url: 'node:internal/process/task_queues', self: 4 },
  )
  const components = [
    { name: 'logger', files: ['packages/stats/src/logger/'] },
    { name: 'client', files: ['node:internal/deps/undici/'] },
  ]

  it('of components include their native work and add up to the total', () => {
    expect(sumComponents(profile, components)).toEqual([
      { name: 'logger', share: 50 },
      { name: 'client', share: 40 },
      { name: 'garbage collector', share: 6 },
      { name: 'other', share: 4 },
    ])
  })

  it('of files, modules and native functions are own shares', () => {
    expect(sumHomes(profile).slice(0, 2)).toEqual([
      { name: 'writeString', share: 40 },
      { name: 'write', share: 30 },
    ])
  })

  it('list the callers of a native function', () => {
    const [top] = listHotFunctions(profile)
    expect(listCallers(profile, top!, components)).toEqual([
      { name: '`log` (packages/stats/src/logger/log.ts:10)', share: 40 },
    ])
    const second = listHotFunctions(profile).find((one) => one.function === 'write')
    expect(listCallers(profile, second!, components)).toEqual([{ name: 'the client', share: 30 }])
  })
})

describe('components that share code', () => {
  const createCall = (file: string, self: number, callees: CallShape[] = []): CallShape => ({
    name: file,
    url: file.startsWith('node:') ? file : `file://${ROOT}${file}.ts`,
    self,
    callees,
  })
  const createSink = () => createCall('packages/runtime/src/logging/line-sink', 1, [{ name: 'writeBuffer', self: 20 }])

  it('get its work by their calls, and the server gets the rest', () => {
    const profile = createCpuProfile(
      createCall('packages/runtime/src/http/server/endpoint', 5, [
        createCall('packages/stats/src/youtube/youtube-call', 4, [
          createCall('packages/stats/src/logger/console', 2, [createSink()]),
          createCall('packages/runtime/src/errors/problems', 6),
          createCall('node:_http_outgoing', 7),
        ]),
        createCall('packages/runtime/src/errors/problems', 3),
        createCall('node:_http_outgoing', 8),
      ]),
      createCall('packages/runtime/src/async/turn', 10, [createCall('packages/stats/src/logger/console', 1)]),
      createSink(),
      createCall('node:internal/timers', 12),
    )
    expect(sumComponents(profile, serviceComponents.stats!)).toEqual([
      { name: 'logger', share: 45 },
      { name: 'server', share: 5 + 3 + 8 + 10 },
      { name: 'client', share: 4 + 6 + 7 },
      { name: 'other', share: 12 },
    ])
  })
})

describe('an allocation profile', () => {
  it('counts bytes', () => {
    const node = (shape: CallShape): any => ({
      callFrame: toCallFrame(shape),
      selfSize: shape.self ?? 0,
      id: 1,
      children: (shape.callees ?? []).map(node),
    })
    const head = node({ name: '(root)', callees: [createAppCall('parse', 1_000, [createAppCall('copy', 3_000)])] })
    const profile = readAllocationProfile({ head }, ROOT)
    expect(profile).toMatchObject({ unit: 'bytes', total: 4_000 })
    expect(listHotFunctions(profile)).toMatchObject([
      { function: 'copy', self: 75, total: 75 },
      { function: 'parse', self: 25, total: 100 },
    ])
  })
})
