import { loadRoaring } from '../../src/index/sets/roaring-library.ts'
import { listPartNames } from '../../src/parts.ts'

const hasBinary = await loadRoaring().then(
  () => true,
  () => false,
)
// On CI the binary must exist.
const needsNone = (index: string) => hasBinary || Boolean(process.env.CI) || !index.startsWith('roaring')

/** All indexes except those that this machine cannot run; the omission is reported. */
export const INDEXES = listPartNames('index').filter(needsNone)

if (INDEXES.length < listPartNames('index').length)
  process.stderr.write('left out: indexes that need the binary of roaring, which is missing here\n')
