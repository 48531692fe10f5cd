import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { describe, expect, it } from 'vitest'
import { toBearerHeader, sign } from './support/sign-tokens.ts'
import { startHub } from './support/start-hub.ts'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'

describe('a subscription that resumes', () => {
  const resumeHeader = 'mercure-last-event-id'

  it('continues after the id in the header, or else in the query, and reports that id', async () => {
    const { token, publish, subscribe } = await startHub()
    const ids: string[] = []
    for (const value of ['1', '2', '3']) ids.push(await publish(token, 'a', value))
    for (const [query, headers, values] of [
      ['', { 'last-event-id': ids[0]! }, ['2', '3']],
      [`&last_event_id=${encodeURIComponent(ids[1]!)}`, {}, ['3']],
      [`&last_event_id=${encodeURIComponent(ids[1]!)}`, { 'last-event-id': ids[0]! }, ['2', '3']],
      // The same ids as on `/wait`.
      ['', { 'last-event-id': ids[0]!.slice(1) }, ['2', '3']],
    ] as const) {
      for (const stream of await subscribe(`?match=a${query}`, headers)) {
        await stream.until(values.length)
        expect(stream.values).toEqual(values)
        expect(stream.headers[resumeHeader]).toBe(ids[values.length === 2 ? 0 : 1])
      }
    }
  })

  it.each([
    ['ring', 1],
    ['ring', 3],
    ['level', 2],
  ] as const)('continues after an id that the publisher chose: %s, %i threads', async (history, threads) => {
    const { sse, token, publish, subscribe } = await startHub({ history, threads, data: createTemporaryFolder() })
    const ids = ['urn:uuid:1', 'é ☃ "2"', '3', 'abc-12', 'abc-012', 'dup', 'dup']
    const live = await subscribe('?match=a')
    for (const [i, id] of ids.entries()) expect(await publish(token, 'a', `${i}`, ['id', id], ['topic', 'b'])).toBe(id)
    await sse.put('last', 'a')
    for (const stream of live) {
      await stream.until(8)
      expect(stream.events.slice(0, 7).map(({ lastEventId }) => lastEventId)).toEqual(ids)
    }
    for (const [i, id] of ids.slice(0, 6).entries()) {
      const utf8 = Buffer.from(id).toString('latin1')
      const values = [...ids.keys()].slice(i + 1).map(String)
      for (const stream of [
        ...(await subscribe('?match=a', { 'last-event-id': utf8 })),
        ...(await subscribe(`?match=b&match=a&last_event_id=${encodeURIComponent(id)}`)),
      ]) {
        await stream.until(values.length + 1)
        expect(stream.values).toEqual([...values, 'last'])
        expect(stream.headers[resumeHeader]).toBe(id === ids[1] ? '%C3%A9 %E2%98%83 "2"' : id)
      }
    }
  })

  it('gets another id in the reply if the update with the id of its publisher is lost', async () => {
    const { token, publish, subscribe } = await startHub({ historyCount: 2 })
    for (const value of ['1', '2', '3', '4']) await publish(token, 'a', value, ['id', `urn:${value}`])
    for (const id of ['urn:1', 'abc-01']) {
      for (const stream of await subscribe('?match=a', { 'last-event-id': id })) {
        await stream.until(2)
        expect(stream.values).toEqual(['3', '4'])
        expect(stream.headers[resumeHeader]).toMatch(/^#/)
      }
    }
  })

  it('continues after an id of its publisher over a restart', async () => {
    const settings = { history: 'level', data: createTemporaryFolder() }
    const first = await startHub(settings)
    for (const value of ['1', '2', '3'])
      await first.publish(
        first.token,
        'a',
        value,
        ['id', `urn:${value}`],
        ...(value === '2' ? [['topic', 'b'] as const] : []),
      )
    await first.sse.stop()
    const { token, publish, subscribe } = await startHub(settings)
    await publish(token, 'a', '4', ['id', 'urn:4'])
    for (const stream of await subscribe('?match=a', { 'last-event-id': 'urn:2' })) {
      await stream.until(2)
      expect(stream.values).toEqual(['3', '4'])
      expect(stream.headers[resumeHeader]).toBe('urn:2')
    }
  })

  it('gets the whole history for `earliest`', async () => {
    const { token, publish, subscribe } = await startHub()
    for (const value of ['1', '2', '3']) await publish(token, 'a', value)
    for (const streams of [
      await subscribe('?match=a&last_event_id=earliest'),
      await subscribe('?match=a', { 'last-event-id': 'earliest' }),
    ]) {
      for (const stream of streams) {
        await stream.until(3)
        expect(stream.values).toEqual(['1', '2', '3'])
        expect(stream.headers[resumeHeader]).toBe('earliest')
      }
    }
    for (const stream of await subscribe('?match=a')) expect(stream.headers[resumeHeader]).toBeUndefined()
  })

  it('gets another id in the reply if updates are lost, or its id is unknown', async () => {
    const { token, publish, subscribe } = await startHub({ historyCount: 2 })
    const ids: string[] = []
    for (const value of ['1', '2', '3', '4']) ids.push(await publish(token, 'a', value))
    for (const [id, answer] of [
      [ids[0]!, ids[1]],
      ['urn:unknown', ids[1]],
      [ids[0]!.replace('#', '#x'), ids[1]],
      ['earliest', ids[1]],
    ] as const) {
      for (const stream of await subscribe('?match=a', { 'last-event-id': id })) {
        await stream.until(2)
        expect(stream.events.map(({ type, data }) => [type, data])).toEqual([
          ['message', '3'],
          ['message', '4'],
        ])
        expect(stream.headers[resumeHeader]).toBe(answer)
      }
    }
  })

  it('gets another id even if it receives the update directly after its id', async () => {
    const { token, publish, subscribe } = await startHub({ historyCount: 2 })
    const at = await publish(token, 'b', '0')
    await publish(token, 'b', '1')
    for (const value of ['1', '2', '3', '4']) await publish(token, 'a', value)
    for (const stream of await subscribe('?match=a&match=b', { 'last-event-id': at })) {
      await stream.until(3)
      expect(stream.values).toEqual(['1', '3', '4'])
      expect(stream.headers[resumeHeader]).not.toBe(at)
    }
  })

  it('gets what its current token allows', async () => {
    const { token, publish, subscribe } = await startHub()
    const first = await publish(token, 'a', 'public')
    await publish(token, 'a', 'private', ['private', ''])
    await publish(token, 'a', 'last')
    const resume = { 'last-event-id': first }
    for (const [headers, values] of [
      [toBearerHeader(await sign({ subscribe: ['a'] })), ['private', 'last']],
      [toBearerHeader(await sign({ subscribe: ['b'] })), ['last']],
      [{}, ['last']],
    ] as const) {
      for (const stream of await subscribe('?match=a', { ...resume, ...headers })) {
        await waitUntil(() => stream.values.includes('last'))
        expect(stream.values).toEqual(values)
      }
    }
  })

  it('gets 204 once all streams were closed', async () => {
    const { sse, subscribe } = await startHub({ apiToken: 'change' })
    const [stream] = await subscribe('?match=a')
    await sse.request('POST', '/closeall', { headers: toBearerHeader('change') })
    await stream!.closed
    for (const { status } of await subscribe('?match=a', { 'last-event-id': stream!.reader.lastEventId }))
      expect(status).toBe(204)
  })
})
