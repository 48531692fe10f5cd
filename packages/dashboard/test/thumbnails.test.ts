import { describe, expect, it } from 'vitest'
import type { Picture } from '../src/thumbnails/picture-source.ts'
import { Thumbnails } from '../src/thumbnails/thumbnails.ts'

const picture = (size = 10): Picture => ({ type: 'image/png', bytes: Buffer.alloc(size) })

/** A cache over a source that a test controls, with a clock. */
function openCache(maxBytes?: number) {
  const calls: string[] = []
  const source = {
    now: 0,
    calls,
    reply: (_video: string): Promise<Picture | undefined> => Promise.resolve(picture()),
  }
  const thumbnails = new Thumbnails(
    (video) => {
      calls.push(video)
      return source.reply(video)
    },
    { now: () => source.now, ...(maxBytes !== undefined && { maxBytes }) },
  )
  return { source, thumbnails }
}

describe('the cache of pictures', () => {
  it('reads a picture once a day, and once for all that wait for it', async () => {
    const { source, thumbnails } = openCache()
    const all = await Promise.all([thumbnails.get('a'), thumbnails.get('a')])
    expect(all).toEqual([picture(), picture()])
    source.now = 86_399_999
    await thumbnails.get('a')
    expect(source.calls).toEqual(['a'])
    source.now = 86_400_001
    await thumbnails.get('a')
    expect(source.calls).toEqual(['a', 'a'])
  })

  it('remembers for ten minutes that there is no picture', async () => {
    const { source, thumbnails } = openCache()
    source.reply = async () => undefined
    expect(await thumbnails.get('a')).toBeUndefined()
    source.now = 599_999
    await thumbnails.get('a')
    expect(source.calls).toEqual(['a'])
    source.now = 600_001
    source.reply = async () => picture()
    expect(await thumbnails.get('a')).toEqual(picture())
  })

  it('drops the least recently used pictures beyond its size', async () => {
    const { source, thumbnails } = openCache(3 * (1_000 + 200))
    source.reply = async () => picture(1_000)
    for (const video of ['a', 'b', 'c', 'a', 'd']) await thumbnails.get(video)
    expect(source.calls).toEqual(['a', 'b', 'c', 'd'])
    for (const video of ['a', 'c', 'd']) await thumbnails.get(video)
    expect(source.calls).toEqual(['a', 'b', 'c', 'd'])
    await thumbnails.get('b')
    expect(source.calls.at(-1)).toBe('b')
  })

  it('asks a source that does not respond only every 30 seconds, and has the known pictures meanwhile', async () => {
    const { source, thumbnails } = openCache()
    await thumbnails.get('a')
    source.reply = () => Promise.reject(new Error('offline'))
    expect(await thumbnails.get('b')).toBeUndefined()
    expect(await thumbnails.get('c')).toBeUndefined()
    expect(await thumbnails.get('a')).toEqual(picture())
    expect(source.calls).toEqual(['a', 'b'])
    source.now = 30_001
    source.reply = async () => picture()
    expect(await thumbnails.get('c')).toEqual(picture())
  })

  it('makes at most eight calls at a time', async () => {
    const { source, thumbnails } = openCache()
    const open: (() => void)[] = []
    source.reply = () => new Promise((resolve) => open.push(() => resolve(picture())))
    const all = Promise.all(Array.from({ length: 20 }, (_, i) => thumbnails.get(`video-${i}`)))
    await Promise.resolve()
    for (let answered = 0; answered < 20; answered++) {
      expect(source.calls.length - answered).toBe(Math.min(8, 20 - answered))
      open[answered]!()
      for (let i = 0; i < 10; i++) await Promise.resolve()
    }
    expect(await all).toHaveLength(20)
  })
})
