export const ProofPage = () => <h1>Proof</h1>
