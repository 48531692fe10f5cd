import { expect, it } from 'vitest'
import { toPreview } from '../../src/core/paste/preview.ts'
import { readPaste } from '../../src/core/paste/read-paste.ts'

const [first, second, third] = ['-4lB5EKS5Uk', '-jlLkTtgWUk', '1FEFpk-uIYo'] as const
const emptyResult = { found: [], failed: [] }
const preview = (text: string, looked: Partial<Parameters<typeof toPreview>[1]> = {}, campaign?: any) =>
  toPreview(readPaste(text), { ...emptyResult, ...looked }, campaign)

it('marks what a campaign contains, what a line repeats, and what is refused', () => {
  const channel = 'UCuAXFkgsw1L7xaCfnd5JJOw'
  const campaign = { videos: [first], sources: [{ type: 'channel', id: channel }] }
  const text = [
    `https://youtu.be/${first}`,
    `https://www.youtube.com/shorts/${second}`,
    `https://youtu.be/${second}?t=5`,
    'https://vimeo.com/1',
    `https://www.youtube.com/channel/${channel}`,
    'https://www.youtube.com/@anna',
    'https://www.tiktok.com/@a/video/7123456789012345678',
  ].join('\n')
  expect(preview(text, {}, campaign)).toMatchObject([
    { line: 1, state: 'member', type: 'video', id: first },
    { line: 2, state: 'new', id: second, isShort: true },
    { line: 3, state: 'duplicate', id: second, firstLine: 2 },
    { line: 4, state: 'refused', reason: 'UNSUPPORTED_HOST' },
    { line: 5, state: 'member', type: 'channel', id: channel },
    { line: 6, state: 'new', type: 'channel', name: 'anna', nameKind: 'handle' },
    { line: 7, state: 'new', type: 'post', platform: 'tiktok' },
  ])
})

it('accepts a bare word only if YouTube knows it, and says if it could not be looked up', () => {
  const text = `Influencers\n${third}\nbad_video__\nInfluencers`
  const found = [{ id: third, title: 'T', channel: 'C', asOf: 1 }]
  const refused = { state: 'refused', reason: 'NOT_A_VIDEO' }
  expect(preview(text, { found, failed: ['bad_video__'] })).toEqual([
    { line: 1, text: 'Influencers', ...refused },
    expect.objectContaining({ line: 2, state: 'new', id: third, title: 'T', channel: 'C' }),
    expect.objectContaining({ line: 3, state: 'unknown', id: 'bad_video__', reason: 'NOT_CHECKED' }),
    { line: 4, text: 'Influencers', ...refused },
  ])
})

it('has the values of the row of a sheet', () => {
  const [item] = preview(`Creator;Link;Fee\nAnna;https://youtu.be/${first};1.200 €`)
  expect(item).toMatchObject({ line: 2, state: 'new', values: { creator: 'Anna', fee: 1_200, currency: 'EUR' } })
})
