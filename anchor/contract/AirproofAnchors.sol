// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title Roots of air-quality readings, one after the other
/// @notice A chain of batches. `head` is a hash over everything anchored so far, and a call must
/// name it: so nothing can be left out, inserted or anchored twice, whoever holds the key. What a
/// batch claims (its range of the log, its count) is public in the event; whether each range goes
/// on where the one before ended is for everyone to check, and not for this contract.
contract AirproofAnchors {
    /// @notice Hash over all batches so far. Begins as hash of chain and contract, so that no head
    /// is valid for two deployments.
    bytes32 public head;

    /// @notice The only address that anchors. Zero stops anchoring until the owner names another.
    address public writer;

    /// @notice The only address that names the writer; it anchors nothing itself.
    address public immutable owner;

    /// @notice A batch was anchored.
    /// @param index Of the batch, from 1
    /// @param root Of the Merkle tree of its readings; zero for a heartbeat
    /// @param head The head from now on
    /// @param prevHead The head before
    /// @param headerHash Of the batch header, which is published beside the readings
    /// @param first First log sequence of the batch
    /// @param last Last log sequence of the batch
    /// @param count How many readings it holds
    event Anchored(
        uint64 indexed index,
        bytes32 indexed root,
        bytes32 indexed head,
        bytes32 prevHead,
        bytes32 headerHash,
        uint64 first,
        uint64 last,
        uint64 count
    );

    /// @notice Another address anchors from now on.
    event WriterChanged(address indexed previous, address indexed current);

    error NotWriter(address caller);
    error NotOwner(address caller);
    /// @notice The call was made for another state of this contract than it has.
    error WrongHead(bytes32 head, bytes32 given);
    /// @notice Readings without a root, or a root without readings.
    error CountWithoutRoot(uint64 count, bytes32 root);

    constructor(address owner_, address writer_) {
        owner = owner_;
        writer = writer_;
        head = keccak256(abi.encode(block.chainid, address(this)));
        emit WriterChanged(address(0), writer_);
    }

    /// @notice Anchors a batch on top of `prevHead`.
    function anchor(
        bytes32 prevHead,
        uint64 index,
        bytes32 root,
        bytes32 headerHash,
        uint64 first,
        uint64 last,
        uint64 count
    ) external {
        if (msg.sender != writer) revert NotWriter(msg.sender);
        if (prevHead != head) revert WrongHead(head, prevHead);
        if ((count == 0) != (root == 0)) revert CountWithoutRoot(count, root);
        bytes32 next = keccak256(
            abi.encode(prevHead, index, root, headerHash, first, last, count)
        );
        head = next;
        emit Anchored(index, root, next, prevHead, headerHash, first, last, count);
    }

    /// @notice Names the address that anchors from now on.
    function setWriter(address writer_) external {
        if (msg.sender != owner) revert NotOwner(msg.sender);
        emit WriterChanged(writer, writer_);
        writer = writer_;
    }
}
