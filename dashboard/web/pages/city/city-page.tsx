export const CityPage = () => <h1>City</h1>
