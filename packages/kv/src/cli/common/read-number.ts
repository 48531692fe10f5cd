import { UsageError, type CommandCall } from './command.ts'

/** Returns the whole number in a flag; `undefined` if the flag is absent. @throws UsageError */
export function readNumber({ getText }: CommandCall, flag: string): number | undefined {
  const value = getText(flag)
  if (value === undefined) return undefined
  if (!/^\d{1,15}$/.test(value)) throw new UsageError(`--${flag} ${value} is not a whole number`)
  return Number(value)
}
