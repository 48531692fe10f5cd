/** Height of a frame (px). */
const FRAME_HEIGHT_PX = 19

/**
 * Draws a tree of calls as a flame graph.
 * @param getValue width of a call
 * @param getColor colour of a call
 * @param getLabel description of a call
 * @param onHover receives the description of the call under the pointer; empty if there is none
 */
// oxlint-disable-next-line no-unused-vars -- another script uses it
function createChart(holder, root, { getValue, getColor, getLabel }, onHover) {
  const elements = new Map()
  const found = new Set()
  let focus = root
  let isFlipped = false

  /** Sets the position of a call and of its callees, in widths of the root. */
  function arrange(call, start, depth) {
    Object.assign(call, { start, depth, width: getValue(call) / getValue(root) })
    let calleeStart = start
    for (const callee of [...call.callees.values()].sort((a, b) => getValue(b) - getValue(a))) {
      arrange(callee, calleeStart, depth + 1)
      calleeStart += callee.width
    }
  }

  function createElement(call) {
    const element = document.createElement('div')
    element.textContent = call.name
    element.addEventListener('click', () => zoom(call))
    element.addEventListener('mouseenter', () => onHover(getLabel(call)))
    elements.set(call, element)
    return element
  }

  /** Lists the calls with at least one pixel, which is their part of the focused call. */
  function listVisible(call, visible = []) {
    const left = Math.max(0, (call.start - focus.start) / focus.width)
    const right = Math.min(1, (call.start + call.width - focus.start) / focus.width)
    if ((right - left) * holder.clientWidth >= 1) {
      visible.push({ call, left, width: right - left })
      for (const callee of call.callees.values()) listVisible(callee, visible)
    }
    return visible
  }

  function draw() {
    const visible = listVisible(root)
    const rows = 1 + Math.max(0, ...visible.map(({ call }) => call.depth))
    holder.style.height = `${rows * FRAME_HEIGHT_PX}px`
    const hidden = new Set(elements.values())
    for (const { call, left, width } of visible) {
      const element = elements.get(call) ?? createElement(call)
      hidden.delete(element)
      element.title = getLabel(call)
      element.className = `frame${call.depth < focus.depth ? ' caller' : ''}`
      element.style.top = `${(isFlipped ? rows - 1 - call.depth : call.depth) * FRAME_HEIGHT_PX}px`
      element.style.left = `${100 * left}%`
      element.style.width = `${100 * width}%`
      element.style.background = found.has(call) ? 'var(--found)' : getColor(call)
      if (!element.isConnected) holder.append(element)
    }
    for (const element of hidden) element.remove()
  }

  function zoom(call) {
    focus = call
    draw()
  }

  /** Marks calls whose name or file contains a text. @returns their number, and their value without recursion */
  function search(text) {
    let value = 0
    found.clear()
    function visit(call, isInside) {
      const isFound = text !== '' && `${call.name} ${call.where}`.toLowerCase().includes(text.toLowerCase())
      if (isFound) found.add(call)
      if (isFound && !isInside) value += getValue(call)
      for (const callee of call.callees.values()) visit(callee, isInside || isFound)
    }
    visit(root, false)
    draw()
    return { count: found.size, value }
  }

  /** Draws the graph after `getValue` or `getColor` changed. */
  function update() {
    arrange(root, 0, 0)
    draw()
  }

  holder.addEventListener('mouseleave', () => onHover(''))
  addEventListener('resize', draw)
  update()
  return {
    update,
    search,
    resetZoom: () => zoom(root),
    flip() {
      isFlipped = !isFlipped
      draw()
    },
  }
}
