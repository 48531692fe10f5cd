import { openLineSink } from './line-sink.ts'

const formatLoss = (lost: number) => `(${lost} lines could not be written)`
const sinks = [1, 2].map((fd) => openLineSink(fd, { formatLoss }))

/** Tells the user something, in whole lines, on standard error unless told otherwise. Faults of either are nobody's. */
export const print = (text: string, fd: 1 | 2 = 2): void => sinks[fd - 1]!.write(text)
