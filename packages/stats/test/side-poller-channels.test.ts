import { describe, expect, it } from 'vitest'
import { DAY_MS } from '../src/core/quota-budget.ts'
import { CHANNEL, HOUR_MS, NOW_MS, setUpSidePoller as setUp } from './support/side-poller.ts'

describe('channels of videos', () => {
  const details = (channelId: string) => [{ id: 'a', channelId, asOf: 1 }]

  it('are read once a day, with a point if their counts have changed', async () => {
    const { state, begin, run, side, control, channelCalls, collections } = setUp()
    begin()
    await run()
    await collections.change('put', 'v', ['aaaaaaaaaaa'])
    await state.putVideos([{ id: 'aaaaaaaaaaa', details: { id: 'aaaaaaaaaaa', channelId: CHANNEL, asOf: 1 } }])
    side.addChannels(details(CHANNEL))
    side.addChannels(details(CHANNEL))
    await run(5_000)
    await run(DAY_MS)
    control.subscribers = 6
    await run(DAY_MS)
    expect(channelCalls).toEqual([[CHANNEL], [CHANNEL], [CHANNEL]])
    expect((await state.getRecords('channel', [CHANNEL]))[0]).toMatchObject({ title: 'T', subscribers: 6 })
    const points = await state.listRecords('channel-point', { prefix: `${CHANNEL}/`, limit: 9 })
    expect(points.map(({ value }) => value.subscribers)).toEqual([5, 6])
  })

  it('are those of the stored videos after a restart, and not read sooner', async () => {
    const { state, put, begin, run, collections, side, channelCalls } = setUp()
    await collections.change('put', 'v', ['aaaaaaaaaaa', 'bbbbbbbbbbb'])
    await put('c', { sources: [] })
    await state.putVideos([
      { id: 'aaaaaaaaaaa', details: { id: 'aaaaaaaaaaa', channelId: CHANNEL, asOf: 1 } },
      { id: 'bbbbbbbbbbb', details: { id: 'bbbbbbbbbbb', channelId: 'UCother', asOf: 1 } },
    ])
    await state.putRecords([{ kind: 'channel', key: CHANNEL, value: { id: CHANNEL, asOf: NOW_MS - HOUR_MS } }])
    begin()
    await run()
    await run(5_000)
    expect(channelCalls).toEqual([['UCother']])
    await collections.change('removeVideo', 'v', 'bbbbbbbbbbb')
    await run(DAY_MS)
    expect(channelCalls[1]).toContain(CHANNEL)
    await run(DAY_MS)
    expect(side.size.channels).toBe(1)
    expect(channelCalls.at(-1)).toEqual([CHANNEL])
  })

  it('cost the videos their share of the budget only while this node polls', async () => {
    const { begin, side, run, meter } = setUp()
    expect(side.getVideoQuota(0)).toEqual(meter.remainingQuota)
    begin()
    await run()
    side.addChannels(details(CHANNEL))
    await run(5_000)
    side.end()
    await run(DAY_MS)
    expect([side.size, side.getWakeAt(0)]).toEqual([{ channels: 0, sources: 0 }, Infinity])
  })
})
