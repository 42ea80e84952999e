import { parseAbi } from 'viem'

/** The registry's, as types need it; a test compares it with what the compiler says. */
export const registryAbi = parseAbi([
  'constructor(address owner_, address writer_)',
  'error CountWithoutRoot(uint64 count, bytes32 root)',
  'error NotOwner(address caller)',
  'error NotWriter(address caller)',
  'error WrongHead(bytes32 head, bytes32 given)',
  'event Anchored(uint64 indexed index, bytes32 indexed root, bytes32 indexed head, bytes32 prevHead, bytes32 headerHash, uint64 first, uint64 last, uint64 count)',
  'event WriterChanged(address indexed previous, address indexed current)',
  'function anchor(bytes32 prevHead, uint64 index, bytes32 root, bytes32 headerHash, uint64 first, uint64 last, uint64 count)',
  'function head() view returns (bytes32)',
  'function owner() view returns (address)',
  'function setWriter(address writer_)',
  'function writer() view returns (address)',
])
