import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PasteItem } from '../../src/core/paste/paste-item.ts'
import { listDoubtfulIds, MAX_PASTE_ITEMS, readPaste } from '../../src/core/paste/read-paste.ts'
import { videoId } from '../support/video-numbers.ts'

const ids = Array.from({ length: 56 }, (_, i) => `a${String(i).padStart(2, '0')}-xYz_Q7w`)
const [a, b, c] = ids as [string, string, string]
const CHANNEL = 'UCabcdefghijklmnopqrstuv'

const list = (items: readonly PasteItem[], ...states: string[]) =>
  items.filter(({ state }) => states.includes(state)).map((item) => ('id' in item ? item.id : item.text))
const listVideos = (text: string) =>
  readPaste(text).items.flatMap((item) =>
    item.state !== 'refused' && item.state !== 'duplicate' && item.type === 'video' ? [item.id] : [],
  )

describe('a text without headings', () => {
  it.each(['\t', ',', ';', '","'])('with columns apart by %j has its videos, each once', (mark) => {
    const toLink = (id: string, i: number) =>
      [
        `https://youtu.be/${id}`,
        `https://www.youtube.com/watch?v=${id}&t=1`,
        `https://www.youtube.com/shorts/${id}`,
        id,
      ][i % 4]
    const heads = ['Influencers', 'Sponsorship.', 'video-links', 'Campaign123', '12345678901']
    const lines = ids.map((id, i) => ['Anna', toLink(id, i), '2026-03-01', 'https://www.youtube.com/@anna'].join(mark))
    const text = [heads.join(mark), ...lines].join('\r\n')
    expect(listVideos(text)).toEqual(ids)
    const { items } = readPaste(text)
    expect(items.find((item) => 'type' in item && item.type === 'channel')).toMatchObject({
      name: 'anna',
      line: 2,
    })
  })

  it('has each video once, for all forms of links and all characters around them', () => {
    const { items } = readPaste(
      `[Spring](https://youtu.be/${a}) **https://youtu.be/${b}**\u200bhttps://youtu.be/${c}https://youtu.be/${a}\n` +
        `${b}. (${c}), //youtu.be/${a} https://l.facebook.com/l.php?u=https%3A%2F%2Fyoutu.be%2F${a}&h=x`,
    )
    expect(list(items, 'new')).toEqual([a, b, c])
    expect(list(items, 'duplicate')).toEqual([a, b, c, a, a])
    expect(items.map(({ line }) => line)).toEqual([1, 1, 1, 1, 2, 2, 2, 2])
    expect(items[4]).toMatchObject({ state: 'duplicate', firstLine: 1, text: `${b}.` })
  })

  it('has links after labels, in HTML and after each other', () => {
    const html = `<a href="https://www.youtube.com/watch?app=desktop&amp;v=${a}">x</a>`
    expect(listVideos(`Video:https://youtu.be/${b}\n${html}\n1.https://youtu.be/${c}`)).toEqual([b, a, c])
  })

  it('ignores other words, and refuses a line with one of them', () => {
    const { items } = readPaste(`https://youtu.be/${a}, see:\nwe like Influencers\nAnna\n---\n2.\n\n`)
    expect(items).toMatchObject([
      { state: 'new', id: a },
      { state: 'refused', reason: 'NO_LINK', text: 'Anna', line: 3 },
    ])
  })

  it('asks for bare ids, words at the end', () => {
    const paste = readPaste(`Influencers\n${a} ${b}\n${a}`)
    expect(list(paste.items, 'doubtful')).toEqual(['Influencers', a, b])
    expect(listDoubtfulIds(paste)).toEqual([a, b, 'Influencers'])
  })

  it('accepts a bare id with a link to the same video', () => {
    const { items } = readPaste(`${a}\thttps://youtu.be/${a}`)
    expect(items).toMatchObject([
      { state: 'new', id: a },
      { state: 'duplicate', id: a, firstLine: 1 },
    ])
  })

  it('has one item for all links to the same content', () => {
    const same = [
      ['https://www.instagram.com/p/Cabc123/', 'https://www.instagram.com/bob/reel/Cabc123'],
      ['https://twitter.com/i/status/1234567', 'https://x.com/Bob/status/1234567/photo/1'],
      ['@nasa', 'https://www.youtube.com/@NASA/videos'],
      [`https://www.youtube.com/channel/${CHANNEL}`, CHANNEL],
    ]
    for (const links of same)
      expect(readPaste(links.join('\n')).items.map(({ state }) => state)).toEqual(['new', 'duplicate'])
  })

  it('has a limited number of items', () => {
    const text = Array.from({ length: MAX_PASTE_ITEMS + 1 }, (_, i) => `@name${i}`).join(' ')
    const paste = readPaste(text)
    expect([paste.items.length, paste.isCut]).toEqual([MAX_PASTE_ITEMS, true])
    expect(readPaste('@nasa')).not.toHaveProperty('isCut')
  })
})

describe('any text', () => {
  const piece = fc.oneof(
    fc.string(),
    videoId,
    fc.constantFrom(
      'https://',
      'youtu.be/',
      '\t',
      '\n',
      '\r\n',
      '"',
      '""',
      ',',
      ';',
      '|',
      ' ',
      '@',
      'Link',
      'Fee',
      '\u200b',
    ),
    fc.constantFrom('https://www.tiktok.com/@a/video/', '%', '%E0%A4%A', '?u=', '&v=', '12345678', '.com/', '://', '='),
  )
  it('gives items with a line of the text, and accepts each content once', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join('')
        const { items } = readPaste(text)
        const lines = text.split(/\r\n|[\n\r\u2028\u2029]/).length
        const accepted = items.flatMap((item) =>
          item.state === 'new' || item.state === 'doubtful' ? [`${item.type}/${item.url.toLowerCase()}`] : [],
        )
        expect(new Set(accepted).size).toBe(accepted.length)
        for (const item of items) {
          expect(item.line).toBeGreaterThanOrEqual(1)
          expect(item.line).toBeLessThanOrEqual(lines)
          if (item.state === 'refused') continue
          // The normalised link gives the same content.
          const [again] = readPaste(item.url).items
          expect(again).toMatchObject({ state: 'new', type: item.type, platform: item.platform })
        }
      }),
      { numRuns: 300 },
    )
  })
})
