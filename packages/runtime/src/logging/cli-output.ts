import { openLineSink } from './line-sink.ts'

const formatLoss = (lost: number) => `(${lost} lines could not be written)`
const sinks = [1, 2].map((fd) => openLineSink(fd, { formatLoss }))

/** Prints text for the user, in whole lines, to standard error by default. A write that fails does not throw. */
export const print = (text: string, fd: 1 | 2 = 2): void => sinks[fd - 1]!.write(text)
