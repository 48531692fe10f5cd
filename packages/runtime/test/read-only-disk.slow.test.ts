import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { BackupWriter } from '../src/backup/backup-format.ts'
import { restoreBackup } from '../src/backup/restore-backup.ts'
import { openSharedLevel } from '../src/level/open/shared-level.ts'
import { mountSmallDisk } from './support/small-disk.ts'
import { createTemporaryFolder } from './support/temporary-folder.ts'

it('names a read-only disk in the refusal of a start and of a restore', async (context) => {
  const folder = createTemporaryFolder()
  const disk = mountSmallDisk(join(folder, 'disk'), 8)
  if (!disk) return context.skip('needs the permission to mount')
  onTestFinished(disk.unmount)
  const data = join(folder, 'disk', 'kv')
  const options = { service: 'kv', format: 1, log: { info() {}, error() {} } }
  const level = await openSharedLevel(data, options)
  await level.close()
  disk.makeReadOnly()
  await expect(openSharedLevel(data, options)).rejects.toMatchObject({
    code: 'DATA_UNWRITABLE',
    message: expect.stringMatching(/on a read-only disk \(EROFS\)/),
  })

  const writer = new BackupWriter()
  const file = join(folder, 'kv.backup')
  writeFileSync(
    file,
    Buffer.concat([writer.writeHead({ backup: 1, service: 'kv', format: 1 }), writer.writeEnd('1.0.0')]),
  )
  const target = join(folder, 'disk', 'new')
  await expect(restoreBackup('kv', file, target)).rejects.toThrow(/read-only/)
  expect(existsSync(target)).toBe(false)
})
