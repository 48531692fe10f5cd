import { expect, it } from 'vitest'
import { CircuitBreaker, type UpstreamFault } from '../src/core/circuit-breaker.ts'
import { DAY_MS } from '../src/core/quota-budget.ts'

const MINUTE_MS = 60_000
const fault: UpstreamFault = { kind: 'quota', detail: 'the quota is exceeded', remedy: 'Wait.' }

it('a late reset of the quota costs a minute at first, and a used quota the rest of the day', () => {
  const circuit = new CircuitBreaker()
  const pauses = [1, 2, 4, 8, 15, 15].map((minutes, i) => {
    const now = circuit.pause?.until ?? 0
    circuit.recordFailure(i > 0 && circuit.begin(), fault, now, DAY_MS - now)
    return [minutes * MINUTE_MS, circuit.pause!.until - now]
  })
  for (const [expected, pause] of pauses) expect(pause).toBe(expected)

  const used = new CircuitBreaker()
  used.recordFailure(false, fault, 0, DAY_MS / 2)
  expect(used.pause!.until).toBe(DAY_MS / 2)
})
