import { expect, it } from 'vitest'
import { readCampaignsCsv } from '../../src/core/campaign-file/read-campaigns.ts'

const MEGABYTE = 1_000_000
/** Three times what the slowest of these texts takes on a busy machine. */
const MAX_MS = 2_500

it.each([
  ';\n',
  'a;https://youtu.be/-4lB5EKS5Uk;Anna;5;#a #b\n',
  ';https://fb.watch/abcdef;;1.1.2026;t\n',
  '"a;""b;',
  ';;;;"a,b"\n',
  'x;y;z;q;"""a""b\n',
])('a file of a megabyte of %j is read in linear time', (part) => {
  const text = `Name;Link;Creator;Fee;Tags\n${part.repeat(MEGABYTE / part.length)}`
  const { user } = process.cpuUsage()
  readCampaignsCsv(text)
  expect((process.cpuUsage().user - user) / 1_000).toBeLessThan(MAX_MS)
})
