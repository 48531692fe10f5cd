// Runs in the page of the viewer, and in tests.

/**
 * Builds the tree of calls of a file (`FlameFile`). A call has a value for each profile of the file.
 * @throws Error if the file is not one of the viewer, or damaged
 */
// oxlint-disable-next-line no-unused-vars -- another script uses it
function parseFile(file) {
  const { frames } = file.shared ?? {}
  if (!Array.isArray(frames) || !Array.isArray(file.profiles)) throw new Error('it has no profiles')
  function createCall(index) {
    if (!frames[index]) throw new Error(`it has no frame ${index}`)
    const { name, file: path = '', line = 0, category } = frames[index]
    const where = path && (line ? `${path}:${line}` : path)
    const createValues = () => file.profiles.map(() => 0)
    return { name, where, category, self: createValues(), total: createValues(), callees: new Map() }
  }
  const root = createCall(0)
  for (const [side, { samples, weights }] of file.profiles.entries()) {
    for (const [i, [, ...stack]] of samples.entries()) {
      if (!(weights[i] > 0)) throw new Error(`its stack ${i} has no weight`)
      let call = root
      call.total[side] += weights[i]
      for (const index of stack) {
        if (!call.callees.has(index)) call.callees.set(index, createCall(index))
        call = call.callees.get(index)
        call.total[side] += weights[i]
      }
      call.self[side] += weights[i]
    }
  }
  return root
}
