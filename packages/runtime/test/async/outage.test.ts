import { expect, test } from 'vitest'
import { Outage } from '../../src/async/outage.ts'

test('reports each outage once at its start and once at its end', () => {
  const events: unknown[] = []
  const outage = new Outage({ onStart: (fault) => events.push(fault), onEnd: () => events.push('end') })
  outage.succeed()
  outage.fail('first')
  outage.fail('second')
  expect([events, outage.isActive]).toEqual([['first'], true])
  outage.succeed()
  outage.succeed()
  outage.fail('third')
  expect(events).toEqual(['first', 'end', 'third'])
})
