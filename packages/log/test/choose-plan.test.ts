import { expect, it } from 'vitest'
import { choosePlan, type FoundLog } from '../src/rescue/choose-plan.ts'
import type { LogAncestor } from '../src/successor.ts'

const at = (epoch: string, seq: number, check = seq): LogAncestor => ({ epoch, seq, check })
const createSource = (position: LogAncestor, i: number) => ({ name: `node ${i}`, position })

/** Chooses a plan for nodes at some positions. @param mismatch of the stream and the most advanced position */
async function choose(positions: readonly LogAncestor[], log?: FoundLog, mismatch?: string) {
  const [first, ...others] = positions.map(createSource)
  const { action, source, ancestor } = await choosePlan('kv', [first!, ...others], log, async () => mismatch)
  return [action, source.name, ancestor]
}

const foundLog = (created: string, ancestor?: LogAncestor, latestSnapshot?: number): FoundLog => ({
  created,
  ancestor,
  latestSnapshot,
})

it('continues a missing stream from the most advanced node', async () => {
  expect(await choose([at('a', 5), at('a', 7), at('a', 6)])).toEqual(['create', 'node 1', at('a', 7)])
  expect(await choose([at('a', 5), at('a', 5)])).toEqual(['create', 'node 0', at('a', 5)])
})

it('changes nothing if the stream has all entries of the nodes', async () => {
  expect((await choose([at('a', 5), at('a', 7)], foundLog('a')))[0]).toBe('none')
  expect((await choose([at('a', 5), at('b', 9)], foundLog('b', at('a', 7), 7)))[0]).toBe('none')
  expect((await choose([at('a', 7), at('a', 5)], foundLog('b', at('a', 7), 7)))[0]).toBe('none')
})

it('stores a missing snapshot of a stream that continues the log, from any node that has joined it', async () => {
  const log = foundLog('b', at('a', 7))
  expect(await choose([at('a', 7), at('a', 5)], log)).toEqual(['complete', 'node 0', at('a', 7)])
  expect(await choose([at('a', 7), at('b', 9), at('b', 8)], log)).toEqual(['complete', 'node 1', at('a', 7)])
})

it('replaces a stream that is another log, or lacks entries', async () => {
  expect(await choose([at('a', 5), at('a', 7)], foundLog('b'))).toEqual(['replace', 'node 1', at('a', 7)])
  expect(await choose([at('a', 7)], foundLog('a'), 'it ends at 6')).toEqual(['replace', 'node 0', at('a', 7)])
  // It was continued from a node that had fewer entries, or one with more that is lost without a snapshot.
  expect(await choose([at('a', 8)], foundLog('b', at('a', 7), 7))).toEqual(['replace', 'node 0', at('a', 8)])
  expect(await choose([at('a', 6)], foundLog('b', at('a', 7)))).toEqual(['replace', 'node 0', at('a', 6)])
})

it('replaces a stream of which all nodes refuse the next message', async () => {
  const chooseWithFaults = async (...faults: (string | undefined)[]) => {
    const [first, ...others] = faults.map((writeFault, i) => ({ ...createSource(at('a', 5 + i), i), writeFault }))
    const { action, source } = await choosePlan('kv', [first!, ...others], foundLog('a'), async () => undefined)
    return [action, source.name]
  }
  expect(await chooseWithFaults('LOG_FORMAT_UNKNOWN', 'LOG_DAMAGED')).toEqual(['replace', 'node 1'])
  expect((await chooseWithFaults('LOG_FORMAT_UNKNOWN', undefined))[0]).toBe('none')
  expect((await chooseWithFaults('LOG_UNREACHABLE'))[0]).toBe('none')
})

it('accepts nodes that missed a continuation of the log', async () => {
  const log = foundLog('c', { ...at('b', 9), ancestors: [at('a', 7)] }, 9)
  expect((await choose([at('c', 12), at('a', 7), at('a', 5)], log))[0]).toBe('none')
  await expect(choose([at('c', 12), at('a', 8)], log)).rejects.toMatchObject({ code: 'POSITIONS_DIVERGED' })
})

it('refuses nodes of different logs', async () => {
  const diverged = expect.objectContaining({ code: 'POSITIONS_DIVERGED' })
  await expect(choose([at('a', 5), at('b', 5)])).rejects.toEqual(diverged)
  await expect(choose([at('a', 5, 1), at('a', 5, 2)])).rejects.toEqual(diverged)
  await expect(choose([at('b', 5), at('a', 9)], foundLog('b'))).rejects.toEqual(diverged)
  await expect(choose([at('b', 9), at('a', 8)], foundLog('b', at('a', 7), 7))).rejects.toEqual(diverged)
  await expect(choose([at('b', 9), at('a', 7, 1)], foundLog('b', at('a', 7), 7))).rejects.toEqual(diverged)
})
