import { expect, test } from 'vitest'
import { findBackupsToDelete, INCOMPLETE_SUFFIX, toBackupFolder } from '../src/backup/backup-retention.ts'

const DAY_MS = 86_400_000
const NO_LIMIT = Number.POSITIVE_INFINITY
const now = Date.UTC(2026, 4, 20, 6, 30)
const daysAgo = (days: number) => toBackupFolder(new Date(now - days * DAY_MS))
const newest = daysAgo(0)

test('names a folder by its time, so that names sort by time', () => {
  expect(newest).toBe('2026-05-20T063000.000Z')
})

test.each([
  { limits: { count: 2, age: NO_LIMIT }, deleted: [2, 5, 9] },
  { limits: { count: 1, age: NO_LIMIT }, deleted: [1, 2, 5, 9] },
  { limits: { count: 9, age: NO_LIMIT }, deleted: [] },
  { limits: { count: NO_LIMIT, age: 5 * DAY_MS }, deleted: [9] },
  { limits: { count: 4, age: 1 * DAY_MS }, deleted: [2, 5, 9] },
])('deletes the backups beyond $limits', ({ limits, deleted }) => {
  const names = [9, 1, 5, 0, 2].map(daysAgo)
  expect(findBackupsToDelete(names, newest, limits).toSorted()).toEqual(deleted.map(daysAgo).toSorted())
})

test('deletes earlier incomplete backups, which do not count', () => {
  const incomplete = daysAgo(1) + INCOMPLETE_SUFFIX
  const names = [newest, incomplete, daysAgo(2), daysAgo(3)]
  expect(findBackupsToDelete(names, newest, { count: 2, age: NO_LIMIT })).toEqual([incomplete, daysAgo(3)])
})

test('never deletes other files, or later backups', () => {
  const others = ['kv.backup', 'notes', `${daysAgo(3)}.old`, daysAgo(-1), '2026-99-99T063000.000Z']
  expect(findBackupsToDelete(others, newest, { count: 1, age: 0 })).toEqual([])
})
