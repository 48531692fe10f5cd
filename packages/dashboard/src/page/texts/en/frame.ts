/** The frame of every screen: navigation, states, language, sign-in, pending removals. */
export const frame = {
  'frame.skip': 'Skip to content',
  'frame.screens': 'Screens',
  'frame.campaigns': 'Campaigns',
  'frame.compare': 'Compare',
  'frame.links': 'Links',
  'frame.prices': 'Prices',
  'frame.health': 'Health',
  'frame.live': 'Live',
  'frame.connecting': 'Connecting',
  'frame.lost': 'Not live',
  'frame.signOut': 'Sign out',
  'frame.language': 'Language',
  'frame.loading': 'Loading…',
  'frame.unreadable':
    'This part of the page could not be loaded. Either the server cannot be reached, or it was updated.',
  'frame.retry': 'Try again',
  'frame.standInLabel': 'Origin of the numbers',
  'frame.standIn':
    '<b>Invented numbers.</b> They come from a stand-in for YouTube on this machine, so no API key is needed.',
  'frame.numbersAsOf': 'Numbers are as of {time}.',
  'frame.lastAnsweredAt': 'It last answered at {time}.',
  'frame.cancel': 'Cancel',
  'frame.showMore': 'Show more',

  'notFound.page': 'Not found',
  'notFound.title': 'There is nothing at this address',
  'notFound.note': 'Check that you copied all of it, or go to the list of campaigns.',

  'signIn.title': 'Sign in',
  'signIn.note': 'Enter the token for changes, or the token for reading.',
  'signIn.token': 'Token',

  'undo.videoLater': '{name} will be removed. It counts until then.',
  'undo.videoFailed': '{name} was not removed. {fault}',
  'undo.dismiss': 'Dismiss',
  'undo.undo': 'Undo',
  'undo.removeNow': 'Remove now',
} as const
