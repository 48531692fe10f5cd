import { describe, expect, it } from 'vitest'
import { createRandom } from '../src/load/requests/drawers.ts'
import { measure, planSteps } from '../src/measure.ts'
import { computeRatio } from '../src/ratios.ts'
import type { RunStep } from '../src/remaining-time.ts'
import type { BenchRow, RowMetrics, RowResult } from '../src/row.ts'
import { startBroadcaster, SMALL_FLEET } from './support/broadcast-server.ts'
import { createStreamRound } from '../src/rounds/fleet-round.ts'

const OPTIONS = { rounds: 3, duration: 1, warmUp: 0 }

/** Normally distributed numbers, by the method of Box and Muller. */
function createNormals(random: () => number): () => number {
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

interface FakeRow {
  readonly name: string
  readonly events?: string[]
  readonly fails?: 'start' | 'prepare' | 'round'
  /** Costs of a start; each round adds its own part. */
  readonly costs?: () => number
  readonly noise?: () => number
  /** True if it also has an open loop. */
  readonly paced?: boolean
}

function createFakeRow({ name, events = [], fails, costs = () => 1, noise = () => 0, paced }: FakeRow): BenchRow {
  let cost = 0
  const say = (what: string) => {
    events.push(`${name} ${what}`)
    if (fails === what) throw new Error(`no ${what}\n here`)
  }
  return {
    name,
    target: {
      name,
      async start() {
        say('start')
        cost = costs()
        return { url: '', pid: 0, stop: async () => void events.push(`${name} stop`) }
      },
    },
    prepare: async () => say('prepare'),
    ...(paced && { getCapacity: ({ perSecond }) => Number(perSecond) }),
    async round(_running, { pace }): Promise<RowMetrics> {
      say('round')
      if (pace !== undefined) return { rate: pace }
      cost *= 1 + noise()
      return { cpu: cost, perSecond: 100 / cost }
    },
  }
}

describe('rows', () => {
  it('start for every round, in another order each time, and stop', async () => {
    const events: string[] = []
    const steps: string[] = []
    const rows = ['a', 'b'].map((name) => createFakeRow({ name, events }))
    const progress = { begin: (_step: RunStep, text: string) => void steps.push(text), skipRow: () => {} }
    expect(planSteps(rows, { rounds: 2 })).toHaveLength(4)
    const results = await measure(rows, { ...OPTIONS, rounds: 2, progress })
    const whole = (name: string) => ['start', 'prepare', 'round', 'stop'].map((what) => `${name} ${what}`)
    expect(events).toEqual(['a', 'b', 'b', 'a'].flatMap(whole))
    expect(steps).toEqual(['a: round 1 of 2', 'b: round 1 of 2', 'b: round 2 of 2', 'a: round 2 of 2'])
    expect(results[0]).toMatchObject({ name: 'a', contender: 'a', starts: 2, rounds: [{ cpu: 1 }, { cpu: 1 }] })
  })

  it('that are compared get one pace, below the capacity of the slowest start of all of them', async () => {
    // Capacities of their starts: 100, 50, 25 of a; 200 of b; 10 of c, which is compared with no other.
    const costs = [1, 2, 4, 1, 1, 1]
    const rows = [
      createFakeRow({ name: 'a', paced: true, costs: () => costs.shift()! }),
      createFakeRow({ name: 'b', paced: true, costs: () => 0.5 }),
      createFakeRow({ name: 'c', paced: true, costs: () => 10 }),
      createFakeRow({ name: 'd' }),
    ]
    const options = { ...OPTIONS, steps: [['b', 'a']] } as const
    const results = await measure(rows, options)
    const pacesOf = ({ rounds }: RowResult) => rounds.flatMap(({ rate }) => rate ?? [])
    expect(results.map(pacesOf)).toEqual([[15, 15], [15, 15], [6, 6], []])
    expect(results.map(({ starts }) => starts)).toEqual([5, 5, 5, 3])
    expect(planSteps(rows, OPTIONS).filter(({ isPaced }) => isPaced)).toHaveLength(6)
    expect((await measure(rows, { ...options, latencies: false })).flatMap(pacesOf)).toEqual([])
  })

  it('are measured one at a time if they start together', async () => {
    const events: string[] = []
    await measure(
      ['a', 'b'].map((name) => createFakeRow({ name, events })),
      { ...OPTIONS, rounds: 1, together: true },
    )
    expect(events.slice(-4)).toEqual(['a round', 'a stop', 'b round', 'b stop'])
    expect(events.slice(0, 4).toSorted()).toEqual(['a prepare', 'a start', 'b prepare', 'b start'])
  })

  it.each(['start', 'prepare', 'round'] as const)(
    'that fail to %s report it once; the others continue',
    async (fails) => {
      const events: string[] = []
      const rows = [createFakeRow({ name: 'a', events, fails }), createFakeRow({ name: 'b', events })]
      for (const together of [false, true]) {
        events.length = 0
        const [a, b] = await measure(rows, { ...OPTIONS, together })
        expect(a).toMatchObject({ failure: `round 1 of 3: no ${fails} here`, rounds: [] })
        expect(b!.rounds).toHaveLength(3)
        // All started targets have been stopped.
        const count = (event: string) => events.filter((each) => each === event).length
        expect([count('a stop'), count('b stop')]).toEqual([fails === 'start' ? 0 : 1, 3])
      }
    },
  )

  it('of streams with a fault are invalid', async () => {
    const rowOn = (behavior: string): BenchRow => ({
      name: behavior,
      target: { name: `known/${behavior}`, start: () => startBroadcaster(behavior) },
      ...createStreamRound({ ...SMALL_FLEET, sending: { values: 20, interval: 5 } }, ''),
    })
    const rows = ['plain', 'dropping', 'doubling', 'refusing all'].map(rowOn)
    const [plain, dropping, doubling, refusing] = await measure(rows, { ...OPTIONS, rounds: 1 })
    expect(plain!.rounds[0]).toMatchObject({ received: 20, faults: '0, 0, 0', rejected: 0 })
    expect(dropping!.failure).toContain('40 events were lost')
    expect(doubling!.failure).toContain('40 events came twice')
    expect(refusing!.failure).toContain('no value was accepted')
  })

  it('begin no other step after an interruption, even if the running one succeeds', async () => {
    const interruption = new AbortController()
    const events: string[] = []
    const begin = () => interruption.abort(new Error('interrupted'))
    const rows = ['a', 'b'].map((name) => createFakeRow({ name, events }))
    const progress = { begin, skipRow: () => {} }
    await expect(measure(rows, { ...OPTIONS, signal: interruption.signal, progress })).rejects.toThrow('interrupted')
    expect(events).toEqual(['a start', 'a prepare', 'a round', 'a stop'])
  })
})

describe('variation between starts', () => {
  /** Number of 400 comparisons of a program with itself that find a difference, if its starts differ by 3 %. */
  async function measureFalseAlarms(rounds: number): Promise<number> {
    const normal = createNormals(createRandom(7))
    const drawn = { costs: () => 20 * Math.exp(0.03 * normal()), noise: () => 0.01 * normal() }
    let alarms = 0
    for (let i = 0; i < 400; i++) {
      const rows = ['a', 'b'].map((name) => createFakeRow({ name, ...drawn }))
      const [a, b] = await measure(rows, { ...OPTIONS, rounds })
      if (computeRatio(a!, b!, 'cpu').verdict === 'difference') alarms++
    }
    return alarms / 400
  }

  it.each([3, 7, 10, 20])('raises a false alarm in at most 5 of 100 comparisons of %i rounds', async (rounds) => {
    expect(await measureFalseAlarms(rounds)).toBeLessThanOrEqual(0.05)
  })

  it('does not hide a difference of 15 %', async () => {
    const normal = createNormals(createRandom(11))
    const of = (cost: number) => ({ costs: () => cost * Math.exp(0.03 * normal()), noise: () => 0.01 * normal() })
    let found = 0
    for (let i = 0; i < 100; i++) {
      const rows = [createFakeRow({ name: 'a', ...of(20) }), createFakeRow({ name: 'b', ...of(23) })]
      const [a, b] = await measure(rows, { ...OPTIONS, rounds: 10 })
      if (computeRatio(a!, b!, 'cpu').verdict === 'difference') found++
    }
    expect(found).toBeGreaterThan(90)
  })

  it('is unknown for rounds on one start', () => {
    const rounds = Array.from({ length: 10 }, () => ({ cpu: 1 }))
    const [a, b] = [1, 2].map((cpu) => ({ name: '', contender: '', starts: 1, rounds: rounds.map(() => ({ cpu })) }))
    expect(computeRatio(a!, b!, 'cpu')).toMatchObject({ median: 0.5, confidence: 0, verdict: 'cannot tell' })
  })
})
