import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readCampaignRows } from '../../src/core/campaign-file/read-campaigns.ts'
import { renderCampaignRows } from '../../src/core/campaign-file/render-campaigns.ts'
import type { Cell } from '../../src/core/csv/csv-line.ts'
import { MAX_XLSX_BYTES, readXlsx, renderXlsx } from '../../src/sheets/xlsx.ts'
import { campaigns } from '../campaign-file/support/campaigns.ts'

const render = async (rows: Parameters<typeof renderXlsx>[0]) =>
  new Uint8Array(await new Response(await renderXlsx(rows, 'Campaigns')).arrayBuffer())

/** Returns the position of the directory of a ZIP archive, and that of the entry in it that contains the name. */
function findEntry(bytes: Uint8Array, name: string) {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const start = buffer.readUInt32LE(buffer.length - 22 + 16)
  return { buffer, at: buffer.indexOf(name, start) - 46 }
}

describe('an XLSX file', () => {
  it('has the cells that were written', async () => {
    const rows: Cell[][] = [
      ['Link', 'Fee', 'Note'],
      ['=1+1', 1_234.5, undefined],
      [' two\r\nlines\t"&<> ', 1e-7, '_x000D_'],
      ['\u0001\b_x0008_', 0, '_x005F_x000D_\ufffe'],
      ["'quoted", 2 ** 50, '👩‍🚀\u200b'],
    ]
    const read = await readXlsx(await render(rows))
    expect(read.map(({ cells }) => [...cells, '', ''].slice(0, 3))).toEqual(
      rows.map((row) => row.map((cell) => cell ?? '')),
    )
    expect(read.map(({ line }) => line)).toEqual([1, 2, 3, 4, 5])
  })

  it('of campaigns gives the same campaigns when it is imported', async () => {
    await fc.assert(
      fc.asyncProperty(campaigns, async (all) => {
        const read = readCampaignRows(await readXlsx(await render(renderCampaignRows(all))))!
        expect(read).toMatchObject({ refused: [], invalid: [], unknownHeadings: [] })
        expect(read.campaigns.map(({ content }) => content)).toEqual(all)
      }),
      { numRuns: 40 },
    )
  })

  it('of another program has its numbers, days and shared texts', async () => {
    const read = await readXlsx(readFileSync(new URL('../fixtures/openpyxl.xlsx', import.meta.url)))
    expect(read).toEqual([
      { line: 1, cells: ['Link', 'Creator', 'Fee', 'From', 'Reported at'] },
      { line: 2, cells: ['https://youtu.be/-4lB5EKS5Uk', 'Anna', 1_234.5, '2026-03-01', '2026-03-05T10:30:00.000Z'] },
      { line: 4, cells: ['https://youtu.be/1FEFpk-uIYo', 'Anna'] },
    ])
  })
})

describe('a file is refused', () => {
  const refusal = async (bytes: Uint8Array) => {
    try {
      await readXlsx(bytes)
    } catch (error) {
      return (error as { code?: string }).code
    }
    return undefined
  }

  it('if it is none or damaged', async () => {
    const file = await render([['a', 1]])
    for (const bytes of [new Uint8Array(), Buffer.from('Link,Fee\n'), file.subarray(0, 500), Buffer.alloc(100)])
      expect(await refusal(bytes)).toBe('INVALID_FILE')
    await fc.assert(
      fc.asyncProperty(fc.nat(file.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const damaged = Uint8Array.from(file)
        damaged[at]! ^= change
        expect([undefined, 'INVALID_FILE', 'FILE_TOO_LARGE']).toContain(await refusal(damaged))
      }),
      { numRuns: 60 },
    )
  })

  it('if it is too large, packed or unpacked', async () => {
    expect(await refusal(new Uint8Array(MAX_XLSX_BYTES + 1))).toBe('FILE_TOO_LARGE')
    const { buffer, at } = findEntry(await render([['a']]), 'xl/worksheets/')
    buffer.writeUInt32LE(0x7f_ff_ff_ff, at + 24)
    expect(await refusal(buffer)).toBe('FILE_TOO_LARGE')
  })

  it('if a part is larger than its stated size', async () => {
    for (const size of [0, 100, 0xff_ff_ff_ff]) {
      const rows = Array.from({ length: 5_000 }, () => ['a'.repeat(100)])
      const { buffer, at } = findEntry(await render(rows), 'xl/worksheets/')
      buffer.writeUInt32LE(size, at + 24)
      expect([size, await refusal(buffer)]).toEqual([size, 'INVALID_FILE'])
    }
  })
})
