import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { measure } from '../src/measure.ts'
import { PINS, pinProcess } from '../src/processes.ts'
import { computeRatio } from '../src/ratios.ts'
import { createRequestRound } from '../src/rounds/request-round.ts'
import type { BenchRow } from '../src/row.ts'

const SCRIPT = fileURLToPath(new URL('support/burning-server-process.ts', import.meta.url))

/** A server that uses this processor time for each request (us). */
const createRow = (microseconds: number, when = 'before', body = 'a'): BenchRow => ({
  name: `${microseconds} us ${when}${body === 'a' ? '' : ', wrong'}`,
  target: {
    name: 'burning',
    async start() {
      const child = fork(SCRIPT, [String(microseconds), when], { execArgv: [] })
      const [port] = await once(child, 'message')
      pinProcess(child.pid!, PINS.server)
      return { url: `http://127.0.0.1:${port}`, pid: child.pid!, stop: async () => void child.kill('SIGKILL') }
    },
  },
  ...createRequestRound({
    says: '',
    requests: [{ method: 'GET', path: '/' }],
    expect: { status: 200, body },
    connections: 4,
  }),
  maxRounds: 0,
})

const OPTIONS = { rounds: 3, duration: 0.5, warmUp: 0.5, latencies: false }

async function compare(a: BenchRow, b: BenchRow) {
  const [own, other] = await measure([a, b], { ...OPTIONS, comparisons: [[a.name, b.name]] })
  return { own: own!, other: other!, ratioOf: (name: string) => computeRatio(own!, other!, name).median }
}

it('rows that are loaded in turn have the ratio of their costs and of their rates', async () => {
  const { own, ratioOf } = await compare(createRow(1000), createRow(500))
  expect(own).toMatchObject({ starts: 0, rounds: [], failure: undefined })
  expect(own.comparisons!['500 us before']).toHaveLength(3)
  expect(ratioOf('cpu')).toBeGreaterThan(1.5)
  expect(ratioOf('cpu')).toBeLessThan(2.2)
  expect(ratioOf('perSecond')).toBeGreaterThan(1 / 2.2)
  expect(ratioOf('perSecond')).toBeLessThan(1 / 1.5)
})

it('work that a server does while the other is loaded counts for it', async () => {
  const { ratioOf } = await compare(createRow(25_000, 'after'), createRow(0, 'after'))
  expect(ratioOf('cpu')).toBeGreaterThan(2)
})

it('a wrong reply invalidates the first row', async () => {
  const { own, other } = await compare(createRow(50), createRow(50, 'before', 'b'))
  expect(own.failure).toMatch(/^pair 1 of 3 with 50 us before, wrong: .*replies were wrong$/)
  expect(other.failure).toBeUndefined()
})
