import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/** Where a program is installed, if it is. */
export async function which(name: string): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder || '.', name)
    if (
      await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return path
  }
  return undefined
}
